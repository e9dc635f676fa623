import { EventRecorder } from '../events/event-recorder.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import type { SharedServerState } from './interfaces.ts'

/** Interval of repairs, as on kube-apiserver. */
const repairMs = 3 * 60_000

/** Corrects the record of node ports and cluster addresses that servers share, and records the findings as events. */
export function allocationRepair(shared: Pick<SharedServerState, 'repairAllocations'>): Controller {
  return {
    name: 'service-allocation-repair',
    start(context) {
      const recorders = new Map<string, EventRecorder>()
      const recorderOf = (component: string): EventRecorder => {
        const recorder = recorders.get(component) ?? new EventRecorder(context, { component, api: 'events' })
        recorders.set(component, recorder)
        return recorder
      }
      const work = context.queue<'repair'>({
        async sync() {
          for (const { object, reportingController, ...event } of await shared.repairAllocations()) {
            await recorderOf(reportingController).record(object, { type: 'Warning', ...event })
          }
          return { requeueAfterMs: repairMs }
        },
      })
      work.add('repair')
      return disposeSubscriptions([])
    },
  }
}
