/**
 * The names of the commands that are short calls over Node's own HTTP (`client.ts`). The build joins them into one file without the
 * code of all others, because to load them takes longer than their call (`npm run bench:start`).
 */
const quickCommands = ["versions", "diff", "deliveries", "delete", "update"] as const

export type QuickCommand = (typeof quickCommands)[number]

export const isQuick = (name: string): name is QuickCommand => quickCommands.some((quick) => quick === name)
