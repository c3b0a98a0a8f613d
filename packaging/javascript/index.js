// The same as index.cjs, for `import`.

import commonjs from './index.cjs';

export const { ControlError, TestServer, sampleFixtures } = commonjs;
