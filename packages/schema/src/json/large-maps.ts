export {
  isEmptyObject,
  largeMapSize,
  memberCountOfLargeMap,
  memberNames,
  rememberKey,
  rememberMemberNames,
} from '@krmkit/meta/slices'
