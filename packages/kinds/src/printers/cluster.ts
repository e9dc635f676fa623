import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../interfaces.ts'
import type { StorageVersion } from '../types/apiserverinternal-v1alpha1.generated.ts'
import type { Lease } from '../types/coordination-v1.generated.ts'
import type { LeaseCandidate } from '../types/coordination-v1alpha2.generated.ts'
import type { RuntimeClass } from '../types/node-v1.generated.ts'
import type { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from '../types/resource-v1beta1.generated.ts'
import type { PriorityClass } from '../types/scheduling-v1.generated.ts'
import type { StorageVersionMigration } from '../types/storagemigration-v1alpha1.generated.ts'
import { ageColumn, column, nameColumn } from './columns.ts'
import { since } from './duration.ts'
import { firstFew } from './text.ts'

/** Classes, leases and devices. */

export const leasePrinter: Printer<Lease> = {
  columns: [nameColumn, column('Holder', 'string', 'Who holds the lease.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.holderIdentity ?? '',
    since(metadata.creationTimestamp, now),
  ],
}

export const leaseCandidatePrinter: Printer<LeaseCandidate> = {
  columns: [
    nameColumn,
    column('LeaseName', 'string', 'Lease that the candidate would hold.'),
    column('BinaryVersion', 'string', 'Release of the candidate.'),
    column('EmulationVersion', 'string', 'Release that the candidate behaves as.'),
    ageColumn,
  ],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.leaseName ?? '',
    spec?.binaryVersion ?? '',
    spec?.emulationVersion ?? '',
    since(metadata.creationTimestamp, now),
  ],
}

export const priorityClassPrinter: Printer<PriorityClass> = {
  columns: [
    nameColumn,
    column('Value', 'integer', 'Priority of pods of the class; higher goes first.'),
    column('Global-Default', 'boolean', 'Whether pods without a class get it.'),
    ageColumn,
    column('PreemptionPolicy', 'string', 'Whether pods of the class push others out.'),
  ],
  cells: ({ metadata, value, globalDefault, preemptionPolicy }, { now }) => [
    metadata.name ?? '',
    value ?? 0,
    globalDefault ?? false,
    since(metadata.creationTimestamp, now),
    preemptionPolicy ?? '',
  ],
}

export const runtimeClassPrinter: Printer<RuntimeClass> = {
  columns: [nameColumn, column('Handler', 'string', 'Configuration of the container runtime that runs its pods.'), ageColumn],
  cells: ({ metadata, handler }, { now }) => [metadata.name ?? '', handler ?? '', since(metadata.creationTimestamp, now)],
}

export const storageVersionPrinter: Printer<StorageVersion> = {
  columns: [
    nameColumn,
    column('CommonEncodingVersion', 'string', 'Version that all servers write.'),
    column('StorageVersions', 'string', 'Version that each server writes; at most three.'),
    ageColumn,
  ],
  cells({ metadata, status }, { now }) {
    const written = (status?.storageVersions ?? []).map((each) => `${each.apiServerID ?? ''}=${each.encodingVersion ?? ''}`)
    return [
      metadata.name ?? '',
      status?.commonEncodingVersion ?? '<unset>',
      firstFew(written, 3) || '<unset>',
      since(metadata.creationTimestamp, now),
    ]
  },
}

export const storageVersionMigrationPrinter: Printer<StorageVersionMigration> = {
  columns: [{ ...nameColumn, format: '' }, column('Resource', 'string', 'Resource whose objects are written anew.')],
  cells({ metadata, spec }) {
    const resource = spec?.resource
    return [metadata.name ?? '', `${resource?.resource ?? ''}.${resource?.version ?? ''}.${resource?.group ?? ''}`]
  },
}

/** Kinds that show nothing but how old they are. */
export const agePrinter: Printer<DeviceClass | ResourceClaimTemplate> = {
  columns: [nameColumn, ageColumn],
  cells: ({ metadata }, { now }) => [metadata.name ?? '', since(metadata.creationTimestamp, now)],
}

export const resourceClaimPrinter: Printer<ResourceClaim> = {
  columns: [nameColumn, column('State', 'string', 'Whether devices are found for the claim, and in use.'), ageColumn],
  cells: (claim, { now }) => [claim.metadata.name ?? '', claimState(claim), since(claim.metadata.creationTimestamp, now)],
}

export const resourceSlicePrinter: Printer<ResourceSlice> = {
  columns: [
    nameColumn,
    column('Node', 'string', 'Node that has the devices.'),
    column('Driver', 'string', 'Driver of the devices.'),
    column('Pool', 'string', 'Pool the devices belong to.'),
    ageColumn,
  ],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    spec?.nodeName ?? '',
    spec?.driver ?? '',
    spec?.pool?.name ?? '',
    since(metadata.creationTimestamp, now),
  ],
}

function claimState({ metadata, status }: DeepReadonly<ResourceClaim>): string {
  const deleted = metadata.deletionTimestamp !== undefined
  const allocated = status?.allocation !== undefined
  const states = [
    ...(deleted ? ['deleted'] : []),
    ...(allocated ? ['allocated'] : deleted ? [] : ['pending']),
    ...(allocated && status.reservedFor?.length ? ['reserved'] : []),
  ]
  return states.join(',')
}
