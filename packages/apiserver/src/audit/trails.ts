import type { AuditSink, AuditTrail } from './interfaces.ts'
import { fixedAuditPolicy } from './policy.ts'

/** Audit trails, and functions that receive one event per request. */
export type AuditOption = AuditSink | AuditTrail | readonly (AuditSink | AuditTrail)[]

const atCompletion = fixedAuditPolicy('Metadata', ['RequestReceived', 'ResponseStarted'])
const atStart = fixedAuditPolicy('Metadata', ['RequestReceived', 'ResponseComplete'])
/** A policy that selects one event per request: at completion, or at the start of a watch. */
const oncePerRequest: AuditTrail['policy'] = {
  decide: (attributes) => (attributes.verb === 'watch' ? atStart : atCompletion).decide(attributes),
}

export function auditTrails(choice: AuditOption | undefined): readonly AuditTrail[] {
  if (choice === undefined) return []
  const all: readonly (AuditSink | AuditTrail)[] = isList(choice) ? choice : [choice]
  return all.map((each) => (typeof each === 'function' ? trailOf(each) : each))
}

function isList(choice: AuditOption): choice is readonly (AuditSink | AuditTrail)[] {
  return Array.isArray(choice)
}

function trailOf(sink: AuditSink): AuditTrail {
  return {
    policy: oncePerRequest,
    backend: {
      process(events) {
        for (const event of events) sink(event)
      },
    },
  }
}
