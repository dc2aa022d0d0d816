/** The behaviour of actions and their versions. */
import * as Struct from "effect/Struct"
import { failure } from "../server/response.js"
import { type Handlers, notFound } from "./operationHandler.js"
import { numberedPage } from "./paging.js"
import { type Action, upsert, type Version } from "./state.js"
import { timestamp } from "./timestamp.js"

const noAction = notFound("action")
const noVersion = notFound("action version")

const deployedVersion = ({ versions }: Action): Version | undefined => versions.find(({ deployed }) => deployed)

const contentOf = (version: Partial<Version>) => Struct.pick(version, "code", "dependencies", "runtime", "secrets")

/** The draft's content: its own, or else that of the version that is deployed or the newest. */
const draftOf = (action: Action) => action.draft ?? contentOf(deployedVersion(action) ?? action.versions[0] ?? {})

const supportedTriggers = ({ supported_triggers, versions: [newest] }: Action) =>
  supported_triggers ?? newest?.supported_triggers ?? []

const nameOf = ({ name, versions: [newest] }: Action) => name ?? newest?.action?.name

const publicAction = (action: Action): object => {
  const deployed = deployedVersion(action)
  const draft = draftOf(action)
  const [newest] = action.versions
  return {
    created_at: action.versions.at(-1)?.created_at,
    updated_at: newest?.updated_at,
    built_at: newest?.built_at,
    ...Struct.omit(action, "versions", "draft", "deployments"),
    name: nameOf(action),
    supported_triggers: supportedTriggers(action),
    ...draft,
    status: "built",
    all_changes_deployed: deployed !== undefined && JSON.stringify(contentOf(deployed)) === JSON.stringify(draft),
    deployed_version: deployed
  }
}

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
      return [action === undefined ? noAction : success({ ...page.fields, versions: page.page }), state]
    }
  },

  getActionVersion: {
    status: 200,
    run: ({ input, success }, state) => {
      const action = state.actions.find(({ id }) => id === input.actionId)
      const version = action?.versions.find(({ id }) => id === input.id)
      if (action === undefined) return [noAction, state]
      return [version === undefined ? noVersion : success(version), state]
    }
  },

  deployActionVersion: {
    status: 202,
    run: ({ input, now, randomId, success }, state) => {
      const action = state.actions.find(({ id }) => id === input.actionId)
      const source = action?.versions.find(({ id }) => id === input.id)
      if (action === undefined) return [noAction, state]
      if (source === undefined) return [noVersion, state]
      if (source.status !== "built") return [failure(400, "The action version is not built."), state]
      const version: Version = {
        ...Struct.omit(source, "built_at"),
        id: versionId(randomId),
        number: Math.max(...action.versions.map(({ number = 0 }) => number)) + 1,
        status: "building",
        deployed: false,
        created_at: timestamp(now),
        updated_at: timestamp(now)
      }
      const deployed: Action = {
        ...action,
        versions: [version, ...action.versions],
        draft: input.update_draft === true ? contentOf(source) : draftOf(action),
        deployments: [...action.deployments ?? [], { version_id: String(version.id), started_at: now }]
      }
      return [success(version), { ...state, actions: upsert(state.actions, [deployed]) }]
    }
  }
}
