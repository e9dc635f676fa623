import type { AuditSink, AuditTrail } from './interfaces.ts'
import { fixedAuditPolicy } from './policy.ts'

/** Trails, and functions that hear of every answered request. */
export type AuditChoice = AuditSink | AuditTrail | readonly (AuditSink | AuditTrail)[]

const whole = fixedAuditPolicy('Metadata', ['RequestReceived', 'ResponseStarted'])
const begun = fixedAuditPolicy('Metadata', ['RequestReceived', 'ResponseComplete'])
/** Once of each request: when it is answered, or begins to be where that lasts. */
const answered: AuditTrail['policy'] = {
  decide: (attributes) => (attributes.verb === 'watch' ? begun : whole).decide(attributes),
}

export function auditTrails(choice: AuditChoice | undefined): readonly AuditTrail[] {
  if (choice === undefined) return []
  const all: readonly (AuditSink | AuditTrail)[] = isList(choice) ? choice : [choice]
  return all.map((each) => (typeof each === 'function' ? trailOf(each) : each))
}

function isList(choice: AuditChoice): choice is readonly (AuditSink | AuditTrail)[] {
  return Array.isArray(choice)
}

function trailOf(sink: AuditSink): AuditTrail {
  return {
    policy: answered,
    backend: {
      process(events) {
        for (const event of events) sink(event)
      },
    },
  }
}
