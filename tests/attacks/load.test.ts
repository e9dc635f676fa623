import { loadFamilies } from './families/index.ts'
import { sampleFamilies } from './harness/sampled-families.ts'

sampleFamilies(loadFamilies)
