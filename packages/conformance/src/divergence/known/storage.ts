import { ofCauses } from './of-causes.ts'

/** A volume that is refused counts as missing. */
const mountOfRefused = /\.(volumeMounts|volumeDevices)\[\d+\]\.name: Not found: /

/** Rules of the storage specification that kube-apiserver does not have, or has otherwise. */
export const ofStorage = ofCauses([
  {
    id: 'D23',
    title: 'The status of a VolumeAttachment must say whether it is attached',
    reason: 'Storage specification, S88: `status.attached` is required; kube-apiserver reads a missing member as false.',
    path: /\/volumeattachments\/[^/]+\/status$/,
    causes: /^status\.attached: Required value$/,
  },
  {
    id: 'D29',
    title: 'The specification of a CSIDriver is required',
    reason: 'Storage specification, S92: a body without `spec` is 422; kube-apiserver reads a missing one as empty.',
    path: /\/csidrivers(\/|$)/,
    causes: /^spec: Required value$/,
  },
  {
    id: 'D30',
    title: 'The group policy of a CSIDriver is immutable',
    reason: 'Storage specification, S95: `fsGroupPolicy` cannot change; on kube-apiserver it can.',
    path: /\/csidrivers\//,
    causes: /^spec\.fsGroupPolicy: Invalid value: .*: field is immutable$/,
  },
  {
    id: 'D31',
    title: 'Conditions of a claim need type and status',
    reason:
      'Storage specification, S65: each condition in the status of a claim has a type and a status; kube-apiserver takes others.',
    path: /\/persistentvolumeclaims\/[^/]+\/status$/,
    causes: /^status\.conditions\[\d+\]\.(type|status): Required value$/,
  },
  {
    id: 'D32',
    title: 'Names of CSI drivers have at most 63 characters',
    reason:
      'Storage specification, S90: the name of a CSIDriver is limited as the driver itself is; kube-apiserver takes longer ones.',
    path: /\/csidrivers(\/|$)/,
    causes: /^metadata\.name: Too long: may not be more than 63 bytes$/,
  },
  {
    id: 'D34',
    title: 'Members of ScaleIO and StorageOS volumes',
    reason:
      'Storage specification, S50 and S51: the secret of a ScaleIO volume is required, its mode is one of two, and volume names are optional; on kube-apiserver volume names are required, and nothing else is.',
    path: /./,
    causes:
      /^\S*\.(scaleIO\.(secretRef|volumeName|storageMode)|storageos\.volumeName): Required value$|^\S*\.scaleIO\.storageMode: Unsupported value: /,
    following: mountOfRefused,
  },
  {
    id: 'D121',
    title: 'The medium of an emptyDir is one of a few',
    reason:
      'Storage specification, S21: `medium` is empty or `Memory`; huge pages are allowed as well. kube-apiserver takes any text.',
    path: /./,
    causes: /^\S*\.emptyDir\.medium: Unsupported value: /,
    following: mountOfRefused,
  },
  {
    id: 'D122',
    title: 'An iSCSI volume names its lun',
    reason: 'Storage specification, S26: `lun` is required; kube-apiserver reads a missing one as 0.',
    path: /./,
    causes: /^\S*\.iscsi\.lun: Required value$/,
    following: mountOfRefused,
  },
])
