import type { Project } from "./project.js"
export interface Sizes {
  readonly bytes: number
}
export const measureSizes = async (_: Project, __: ReadonlyArray<string>): Promise<Sizes> => ({ bytes: 0 })
