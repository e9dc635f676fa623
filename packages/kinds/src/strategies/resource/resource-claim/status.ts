/** The status of a claim: what was allocated, for whom, and what drivers report about it. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { utf8Length } from '@krmkit/meta/go-text'
import { validateConditions } from '@krmkit/meta/validation'
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../../types/resource-v1beta1.generated.ts'
import { validateRequiredEnum } from '../../shared/enums.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { forEachItem } from '../../shared/for-each.ts'
import { validateDnsLabel } from '../../shared/names.ts'
import { validateNodeSelector } from '../../shared/node-selector.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateDriverName } from '../../shared/volume-network.ts'
import { type Bindings, validateBindings } from '../bindings.ts'
import { devicesOf } from '../claim-devices.ts'
import { maxConfigurations, type RequestNames, requestNames, validateRequestRef, validateRequestRefs } from '../claim-spec.ts'
import { validateConfiguration, validateRawObject } from '../configuration.ts'
import { type DeviceName, deviceId, printDeviceId } from '../device-id.ts'
import { goAllocation } from '../go-form.ts'
import { validateInterfaceAddress } from '../interface-address.ts'
import { validateList, validateSet } from '../lists.ts'
import { validatePoolName, validateShareId } from '../names.ts'
import { validateSkippedOperations } from '../node-operations.ts'
import { validateToleration } from '../taints.ts'
import { allocatedDevices } from './allocated.ts'

const maxConsumers = 256
const maxResults = 32
const maxConditions = 8
const maxIps = 16
const longestInterfaceName = 256
const longestHardwareAddress = 128
const sources = ['FromClaim', 'FromClass']

type Claim = DeepReadonly<ResourceClaim>
type Status = R<ResourceClaimStatus>

const noStatus: Status = {}

export function* validateClaimStatus(claim: Claim, old: Claim, at: FieldPath): Work {
  const status = claim.status ?? noStatus
  const before = old.status ?? noStatus
  const reservedAt = at.child('reservedFor')
  yield* validateSet(status.reservedFor, reservedAt, {
    max: maxConsumers,
    each: validateConsumer,
    key: ({ uid = '' }) => uid,
    member: 'uid',
  })
  const allocated = allocatedDevices(status)
  yield* validateSet(status.devices, at.child('devices'), {
    each: (device, here) => validateDeviceStatus(device, here, allocated),
    key: deviceId,
    member: 'deviceID',
    ofDevices: true,
  })
  const { allocation } = status
  if (!isEmpty(status.reservedFor)) {
    if (!isSet(allocation)) reservedAt.forbidden('may not be specified when `allocated` is not set')
    else if (isSet(claim.metadata.deletionTimestamp) && hasNewConsumer(status, before)) {
      reservedAt.forbidden('new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set')
    }
  }
  if (!isSet(allocation)) return
  const here = at.child('allocation')
  if (!isSet(before.allocation)) yield* validateAllocation(allocation, here, requestNames(devicesOf(claim.spec)))
  else if (!(yield* semanticEqual(allocation, before.allocation))) here.invalid(goAllocation(allocation), 'field is immutable')
}

function validateConsumer({ resource, name, uid }: R<ResourceClaimConsumerReference>, at: FieldPath): void {
  if (isEmpty(resource)) at.child('resource').required()
  if (isEmpty(name)) at.child('name').required()
  if (isEmpty(uid)) at.child('uid').required()
}

function hasNewConsumer({ reservedFor }: Status, { reservedFor: before }: Status): boolean {
  const text = ({ apiGroup = '', resource = '', name = '', uid = '' }: R<ResourceClaimConsumerReference>) =>
    JSON.stringify([apiGroup, resource, name, uid])
  const known = new Set(before?.map(text))
  return reservedFor?.some((consumer) => !known.has(text(consumer))) === true
}

function* validateDeviceStatus(device: R<AllocatedDeviceStatus>, at: FieldPath, allocated: ReadonlySet<string>): Work {
  validateDevice(device, at)
  const { shareID } = device as DeviceName
  if (isSet(shareID)) validateShareId(shareID, at.child('shareID'))
  const id = deviceId(device)
  if (!allocated.has(id)) at.invalid(printDeviceId(id), 'must be an allocated device in the claim')
  const conditions = device.conditions ?? []
  const conditionsAt = at.child('conditions')
  if (conditions.length > maxConditions) conditionsAt.tooMany(conditions.length, maxConditions)
  conditionsAt.add(validateConditions(conditions, conditionsAt.path()))
  if (isSet(device.data)) validateRawObject(device.data, at.child('data'), { stored: false })
  if (isSet(device.networkData)) yield* validateNetworkData(device.networkData, at.child('networkData'))
}

function validateDevice(
  { driver = '', pool = '', device = '' }: R<Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device'>>,
  at: FieldPath,
): void {
  validateDriverName(driver, at.child('driver'))
  validatePoolName(pool, at.child('pool'))
  validateDnsLabel(device, at.child('device'))
}

function validateNetworkData(data: R<NetworkDeviceData>, at: FieldPath): Work {
  if (utf8Length(data.interfaceName ?? '') > longestInterfaceName) at.child('interfaceName').tooLong('', longestInterfaceName)
  if (utf8Length(data.hardwareAddress ?? '') > longestHardwareAddress) {
    at.child('hardwareAddress').tooLong('', longestHardwareAddress)
  }
  return validateSet(data.ips, at.child('ips'), {
    max: maxIps,
    each: (address, here) => here.invalidAll(address, validateInterfaceAddress(address)),
    key: (address) => address,
  })
}

function* validateAllocation({ devices, nodeSelector }: R<AllocationResult>, at: FieldPath, names: RequestNames): Work {
  const here = at.child('devices')
  yield* validateList(devices?.results, here.child('results'), {
    max: maxResults,
    each: (result: Result, place) => validateResult(result, place, names),
  })
  yield* validateList(devices?.config, here.child('config'), {
    // Those of the class and of the claim.
    max: 2 * maxConfigurations,
    each: (config, place) => validateAllocatedConfig(config, place, names),
  })
  if (isSet(nodeSelector)) yield* validateNodeSelector(nodeSelector, at.child('nodeSelector'))
}

/** A result with members of later releases. */
type Result = R<DeviceRequestAllocationResult> &
  Bindings & {
    readonly shareID?: string | null
    readonly skipNodeOperations?: readonly string[] | null
  }

function* validateResult(result: Result, at: FieldPath, names: RequestNames): Work {
  validateRequestRef(result.request ?? '', at.child('request'), names)
  validateDevice(result, at)
  yield* validateBindings(result, at)
  if (at.errors.context.features.release.atLeast('1.37'))
    yield* forEachItem(result.tolerations, (toleration, i) => validateToleration(toleration, at.child('tolerations').index(i)))
  if (isSet(result.shareID)) validateShareId(result.shareID, at.child('shareID'))
  validateSkippedOperations(result.skipNodeOperations, at.child('skipNodeOperations'))
}

function* validateAllocatedConfig(config: R<DeviceAllocationConfiguration>, at: FieldPath, names: RequestNames): Work {
  validateRequiredEnum(config.source, at.child('source'), sources)
  yield* validateRequestRefs(config.requests, at.child('requests'), names)
  validateConfiguration(config, at, { stored: false })
}
