/** Names that changed, with the same shape and meaning. */
import { rules } from "../convert/rules.js"

export default rules({
  names: {
    "@effect/cli/Args": { repeated: "atLeast(0)" },
    "@effect/cli/Options": { repeated: "atLeast(0)" },
    "@effect/platform-node/NodeHttpClient": {
      UndiciRequestOptions: "UndiciOptions",
      layer: "layerNodeHttp",
      layerWithoutAgent: "layerNodeHttpNoAgent",
      makeAgentLayer: "layerAgentOptions"
    },
    "@effect/platform/Headers": { unsafeFromRecord: "fromRecordUnsafe" },
    "@effect/platform/HttpBody": { unsafeJson: "jsonUnsafe" },
    "@effect/platform/HttpClient": { currentTracerDisabledWhen: "TracerDisabledWhen", del: "delete" },
    "@effect/platform/HttpClientRequest": { del: "delete" },
    "@effect/platform/HttpServerResponse": { unsafeJson: "jsonUnsafe" },
    "@effect/platform/Terminal": { QuitException: "QuitError" },

    "effect/Array": { isNonEmptyReadonlyArray: "isReadonlyArrayNonEmpty" },
    "effect/Cause": {
      failureOption: "findErrorOption",
      isDie: "hasDies",
      isFailType: "isFailReason",
      isFailure: "hasFails",
      isInterrupted: "hasInterrupts",
      isInterruptedOnly: "hasInterruptsOnly",
      isTimeoutException: "isTimeoutError",
      TimeoutException: "TimeoutError"
    },
    "effect/Channel": { write: "succeed", zipRight: "concat" },
    "effect/Config": {
      boolean: "Boolean",
      "Config.Success": "Success",
      "Config.Wrap": "Wrap",
      duration: "Duration",
      integer: "Int",
      nonEmptyString: "NonEmptyString",
      number: "Number",
      port: "Port",
      redacted: "Redacted",
      string: "String"
    },
    "effect/ConfigError": { ConfigError: "effect/Config#ConfigError" },
    "effect/Context": { "Tag.Service": "Service.Shape" },
    "effect/DateTime": { unsafeMake: "makeUnsafe", unsafeMakeZoned: "makeZonedUnsafe" },
    "effect/Deferred": { unsafeDone: "doneUnsafe" },
    "effect/Duration": {
      decode: "fromInputUnsafe",
      DurationInput: "Input",
      lessThan: "isLessThan",
      lessThanOrEqualTo: "isLessThanOrEqualTo"
    },
    "effect/Effect": {
      async: "callback",
      catchAll: "catch",
      catchAllCause: "catchCause",
      catchAllDefect: "catchDefect",
      clock: "effect/Clock#Clock",
      console: "effect/Console#Console",
      "Effect.Context": "Services",
      "Effect.Error": "Error",
      "Effect.Success": "Success",
      either: "result",
      fork: "forkChild",
      forkDaemon: "forkDetach",
      fromNullable: "fromNullishOr",
      intoDeferred: "effect/Deferred#into",
      locally: "provideService",
      locallyWith: "updateService",
      makeLatch: "effect/Latch#make",
      makeSemaphore: "effect/Semaphore#make",
      mapInputContext: "updateContext",
      runtime: "context",
      Semaphore: "effect/Semaphore#Semaphore",
      tapErrorCause: "tapCause",
      unsafeMakeSemaphore: "effect/Semaphore#makeUnsafe",
      withFiberRuntime: "withFiber",
      zipLeft: "tap",
      zipRight: "andThen"
    },
    "effect/Either": {
      Either: "Result",
      "Either.Left": "Result.Failure",
      "Either.Right": "Result.Success",
      fromNullable: "fromNullishOr",
      getLeft: "getFailure",
      getRight: "getSuccess",
      isEither: "isResult",
      isLeft: "isFailure",
      isRight: "isSuccess",
      left: "fail",
      mapLeft: "mapError",
      right: "succeed"
    },
    "effect/Encoding": {
      decodeBase64: "effect/encoding/Base64#decode",
      decodeBase64String: "effect/encoding/Base64#decodeString",
      decodeBase64Url: "effect/encoding/Base64Url#decode",
      decodeBase64UrlString: "effect/encoding/Base64Url#decodeString",
      decodeHex: "effect/encoding/Hex#decode",
      decodeHexString: "effect/encoding/Hex#decodeString",
      encodeBase64: "effect/encoding/Base64#encode",
      encodeBase64Url: "effect/encoding/Base64Url#encode",
      encodeHex: "effect/encoding/Hex#encode"
    },
    "effect/Exit": { isInterrupted: "hasInterrupts" },
    "effect/FiberMap": { unsafeGet: "getUnsafe" },
    "effect/HashMap": { unsafeGet: "getUnsafe" },
    "effect/Layer": {
      "Layer.Context": "Services",
      "Layer.Error": "Error",
      "Layer.Success": "Success",
      scoped: "effect",
      scopedDiscard: "effectDiscard",
      setConfigProvider: "effect/ConfigProvider#layer",
      unwrapEffect: "unwrap",
      unwrapScoped: "unwrap"
    },
    "effect/Logger": {
      jsonLogger: "formatJson",
      logfmtLogger: "formatLogFmt",
      prettyLogger: "consolePretty",
      stringLogger: "formatSimple",
      structuredLogger: "formatStructured"
    },
    "effect/MetricBoundaries": { fromIterable: "effect/Metric#boundariesFromIterable" },
    "effect/Option": { fromNullable: "fromNullishOr" },
    "effect/Order": { bigint: "BigInt", number: "Number", string: "String" },
    "effect/Predicate": { isNullable: "isNullish", isReadonlyRecord: "isReadonlyObject", isRecord: "isObject" },
    "effect/Random": { nextRange: "nextBetween" },
    "effect/Redacted": { unsafeWipe: "wipeUnsafe" },
    "effect/Runtime": {
      runFork: "effect/Effect#runForkWith",
      runPromise: "effect/Effect#runPromiseWith",
      runPromiseExit: "effect/Effect#runPromiseExitWith",
      Runtime: "effect/Context#Context",
      runSync: "effect/Effect#runSyncWith"
    },
    "effect/Scope": { CloseableScope: "Closeable", extend: "provide" },
    "effect/Stream": {
      bufferChunks: "bufferArray",
      catchAll: "catch",
      catchAllCause: "catchCause",
      execute: "fromEffectDrain",
      mapChunksEffect: "mapArrayEffect",
      repeatEffect: "fromEffectRepeat",
      repeatEffectWithSchedule: "fromEffectSchedule",
      runForEachChunk: "runForEachArray",
      "Stream.Error": "Error",
      "Stream.Success": "Success",
      StreamTypeId: "TypeId",
      toAsyncIterableRuntime: "toAsyncIterableWith",
      unwrapScoped: "unwrap"
    },
    "effect/TestClock": { currentTimeMillis: "effect/Clock#currentTimeMillis" }
  }
})
