import { requestFamilies } from './families/index.ts'
import { sampleFamilies } from './harness/sampled-families.ts'

sampleFamilies(requestFamilies)
