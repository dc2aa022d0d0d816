/** The behaviour of actions and their versions. */
import * as Struct from "effect/Struct"
import { failure } from "../server/response.js"
import { type Handlers, notFound } from "./operationHandler.js"
import { numberedPage } from "./paging.js"
import { type Action, upsert, type Version } from "./state.js"
import { nanoTimestamp } from "./timestamp.js"

const noAction = failure(404, "That action does not exist.")
const noVersion = notFound("action version")

const deployedVersion = ({ versions }: Action): Version | undefined => versions.find(({ deployed }) => deployed)

const contentOf = (version: Partial<Version>) => Struct.pick(version, "code", "dependencies", "runtime", "secrets")

/** The draft's content: its own, or else that of the version that is deployed or the newest. */
const draftOf = (action: Action) => action.draft ?? contentOf(deployedVersion(action) ?? action.versions[0] ?? {})

const supportedTriggers = ({ supported_triggers, versions: [newest] }: Action) =>
  supported_triggers ?? newest?.supported_triggers ?? []

const nameOf = ({ name, versions: [newest] }: Action) => name ?? newest?.action?.name

/** The fields that an action has by itself and within its versions. */
const baseOf = (action: Action) => ({
  id: action.id,
  name: nameOf(action),
  supported_triggers: supportedTriggers(action),
  created_at: action.created_at ?? action.versions.at(-1)?.created_at,
  updated_at: action.updated_at ?? action.versions[0]?.updated_at
})

/** The deployed version once more, as actions also show it: with fewer fields, the status in capitals. */
const currentVersion = ({ built_at, code, created_at, id, number, runtime, status, updated_at }: Version) => ({
  id,
  code,
  runtime,
  status: status?.toUpperCase(),
  number,
  build_time: built_at,
  created_at,
  updated_at
})

const publicAction = (action: Action): object => {
  const deployed = deployedVersion(action)
  const draft = draftOf(action)
  return {
    ...Struct.omit(action, "versions", "draft", "deployments"),
    ...baseOf(action),
    ...draft,
    status: "built",
    ...(deployed && { current_version: currentVersion(deployed), deployed_version: Struct.omit(deployed, "action") }),
    all_changes_deployed: deployed !== undefined && JSON.stringify(contentOf(deployed)) === JSON.stringify(draft)
  }
}

/** A version with its action, whose changes were not deployed when the version was made. */
const publicVersion = (action: Action) => (version: Version): object => ({
  ...version,
  action: { ...baseOf(action), all_changes_deployed: false, ...version.action }
})

/** Spells sixteen random characters as an id of the form that versions have. */
const versionId = (random: string): string =>
  Array.from(random, (character) => (character.charCodeAt(0) * 2).toString(16)).join("")
    .replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, "$1-$2-4$3-8$4-$5")

export const actionHandlers: Handlers<
  "listActions" | "getAction" | "listActionVersions" | "getActionVersion" | "deployActionVersion"
> = {
  listActions: {
    status: 200,
    numbered: true,
    run: ({ input, success }, state) => {
      const { actionName, deployed, installed, triggerId } = input
      const found = state.actions.filter((action) =>
        installed !== true && // no action comes from a marketplace
        (triggerId === undefined || supportedTriggers(action).some(({ id }) => id === triggerId)) &&
        (actionName === undefined || nameOf(action) === actionName) &&
        (deployed === undefined || (deployedVersion(action) !== undefined) === deployed)
      )
      const page = numberedPage(found, input)
      if ("status" in page) return [page, state]
      return [success({ ...page.fields, actions: page.page.map(publicAction) }), state]
    }
  },

  getAction: {
    status: 200,
    run: ({ input, success }, state) => {
      const action = state.actions.find(({ id }) => id === input.id)
      return [action === undefined ? noAction : success(publicAction(action)), state]
    }
  },

  listActionVersions: {
    status: 200,
    numbered: true,
    run: ({ input, success }, state) => {
      const action = state.actions.find(({ id }) => id === input.actionId)
      const page = numberedPage(action?.versions ?? [], input)
      if ("status" in page) return [page, state]
      return [
        action === undefined ? noAction : success({ ...page.fields, versions: page.page.map(publicVersion(action)) }),
        state
      ]
    }
  },

  getActionVersion: {
    status: 200,
    run: ({ input, success }, state) => {
      const action = state.actions.find(({ id }) => id === input.actionId)
      const version = action?.versions.find(({ id }) => id === input.id)
      if (action === undefined) return [noAction, state]
      return [version === undefined ? noVersion : success(publicVersion(action)(version)), state]
    }
  },

  deployActionVersion: {
    status: 200,
    run: ({ input, now, randomId, success }, state) => {
      const action = state.actions.find(({ id }) => id === input.actionId)
      const source = action?.versions.find(({ id }) => id === input.id)
      if (action === undefined) return [noAction, state]
      if (source === undefined) return [noVersion, state]
      if (source.status !== "built") return [failure(400, "The action version is not built."), state]
      const at = nanoTimestamp(now)
      const version: Version = {
        ...Struct.omit(source, "built_at"),
        id: versionId(randomId),
        number: Math.max(...action.versions.map(({ number = 0 }) => number)) + 1,
        deployed: false,
        created_at: at,
        updated_at: at
      }
      const deployed: Action = {
        ...action,
        versions: [version, ...action.versions],
        ...(input.update_draft === true
          ? { draft: contentOf(source), updated_at: at }
          : { draft: draftOf(action) }),
        deployments: [...action.deployments ?? [], { version_id: String(version.id), started_at: now }]
      }
      return [success(publicVersion(action)(version)), { ...state, actions: upsert(state.actions, [deployed]) }]
    }
  }
}
