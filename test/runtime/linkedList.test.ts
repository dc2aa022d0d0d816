import { assert, describe, it } from "vitest"
import { LinkedList, LinkedNode } from "../../src/internal/runtime/linkedList.js"

class Named extends LinkedNode<Named> {
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
}

const listOf = (...names: ReadonlyArray<string>) => {
  const list = new LinkedList<Named>()
  const nodes = names.map((name) => {
    const node = new Named(name)
    list.add(node)
    return node
  })
  return { list, nodes, names: () => Array.from(list, ({ name }) => name) }
}

describe("LinkedList", () => {
  it("keeps the order of arrival when nodes in the middle are removed", () => {
    const { list, names, nodes: [, second, third] } = listOf("a", "b", "c", "d")
    list.remove(second!)
    list.remove(third!)
    assert.deepStrictEqual(names(), ["a", "d"])
    assert.deepStrictEqual([list.size, list.first?.name], [2, "a"])
  })

  it("removes a node once", () => {
    const { list, nodes: [node] } = listOf("a")
    assert.deepStrictEqual([list.remove(node!), list.remove(node!), list.size], [true, false, 0])
  })

  it("adds nodes again after it was empty", () => {
    const { list, names, nodes: [first, second] } = listOf("a", "b")
    for (const node of list) list.remove(node)
    assert.deepStrictEqual(names(), [])
    list.add(second!)
    list.add(first!)
    assert.deepStrictEqual(names(), ["b", "a"])
  })

  it("visits all nodes though each is removed when it is visited", () => {
    const { list } = listOf("a", "b", "c")
    const visited = Array.from(list, (node) => {
      list.remove(node)
      return node.name
    })
    assert.deepStrictEqual(visited, ["a", "b", "c"])
  })

  it("keeps no reference from a removed node to the others", () => {
    const { list, nodes } = listOf("a", "b", "c")
    for (const node of nodes) list.remove(node)
    for (const { after, before } of nodes) assert.deepStrictEqual([before, after], [undefined, undefined])
  })
})
