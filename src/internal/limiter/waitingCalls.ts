/** The calls that wait for a permit, by tenant and operation. */
import { LinkedList } from "../runtime/linkedList.js"
import { getOrInsert } from "../runtime/memoize.js"
import { DueHeap, DueItem } from "./dueHeap.js"
import type { Call } from "./limiter.js"
import type { QueuedCall } from "./waitingCall.js"

type Lists<State> = readonly [interactive: LinkedList<QueuedCall<State>>, background: LinkedList<QueuedCall<State>>]

/** The waiting calls of a tenant, and when to look at them again. */
export class TenantQueue<State> extends DueItem {
  readonly lists = new Map<State, Lists<State>>()

  all(): ReadonlyArray<LinkedList<QueuedCall<State>>> {
    return Array.from(this.lists.values()).flat()
  }
}

export class WaitingCalls<State extends { readonly call: Call }> {
  readonly tenants = new Map<string, TenantQueue<State>>()
  readonly due = new DueHeap<TenantQueue<State>>()
  /** The number of all calls. */
  size = 0

  tenantOf({ call }: State): TenantQueue<State> | undefined {
    return this.tenants.get(call.tenant)
  }

  listsOf(state: State): ReadonlyArray<LinkedList<QueuedCall<State>>> {
    return this.tenantOf(state)?.lists.get(state) ?? []
  }

  sizeOf(state: State): number {
    return this.listsOf(state).reduce((sum, { size }) => sum + size, 0)
  }

  add(one: QueuedCall<State>): void {
    const { lists } = getOrInsert(this.tenants, one.state.call.tenant, () => new TenantQueue<State>())
    const own = getOrInsert(lists, one.state, (): Lists<State> => [new LinkedList(), new LinkedList()])
    own[one.isBackground ? 1 : 0].add(one)
    this.size++
  }

  /** Takes a call out of its queue; returns `false` if it has left before. */
  remove(one: QueuedCall<State>): boolean {
    if (this.listsOf(one.state)[one.isBackground ? 1 : 0]?.remove(one) !== true) return false
    this.size--
    const tenant = this.tenantOf(one.state)
    // Nothing is kept of queues that are empty: a program may have many tenants.
    if (tenant !== undefined && this.sizeOf(one.state) === 0) {
      tenant.lists.delete(one.state)
      if (tenant.lists.size === 0) {
        this.tenants.delete(one.state.call.tenant)
        this.due.remove(tenant)
      }
    }
    return true
  }
}
