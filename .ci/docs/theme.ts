/** typedoc's own theme with a sidebar that lists guides, operations, modules and pages about the project in reading order, by short names. */
import { DefaultTheme, type Models, type NavigationElement } from "typedoc"

const groups = ["Guides", "Operations", "Modules", "Project"]

/** Sorts by the place in a list. */
const sorted = <A extends { readonly text: string }>(items: ReadonlyArray<A>, order: ReadonlyArray<string>): Array<A> =>
  items.toSorted((one, other) => order.indexOf(one.text) - order.indexOf(other.text))

/** Makes the theme. The package's name is left out of the names of `modules`, which are in reading order. */
export const makeTheme = (core: string, modules: ReadonlyArray<string>) =>
  class extends DefaultTheme {
    override buildNavigation(project: Models.ProjectReflection): Array<NavigationElement> {
      return sorted(super.buildNavigation(project), groups).map((group) =>
        group.text !== "Modules" ? group : {
          ...group,
          children: sorted(group.children ?? [], modules).map((module) => ({
            ...module,
            text: module.text.replace(`${core}/`, "")
          }))
        }
      )
    }
  }
