import type { AuditSink, AuditTrail } from './interfaces.ts'
import { fixedAuditPolicy } from './policy.ts'

/** Trails, and functions that hear of every answered request. */
export type AuditChoice = AuditSink | AuditTrail | readonly (AuditSink | AuditTrail)[]

const answered = fixedAuditPolicy('Metadata', ['RequestReceived', 'ResponseStarted'])

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
