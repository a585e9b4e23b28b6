/** A patch of a pipeline and of a source file, for screens and pages. */
export const RELEASE_PATCH = `diff --git a/.github/workflows/release.yml b/.github/workflows/release.yml
index 3f1c2a0..8b7d9e1 100644
--- a/.github/workflows/release.yml
+++ b/.github/workflows/release.yml
@@ -8,4 +8,6 @@ jobs:
     steps:
       - uses: actions/checkout@v5
-      - run: npm ci
+      - run: npm install
+        env:
+          NODE_AUTH_TOKEN: \${{ secrets.NPM_TOKEN }}
       - run: npm test
diff --git a/src/retry.ts b/src/retry.ts
index 91ab4c2..c02f6d7 100644
--- a/src/retry.ts
+++ b/src/retry.ts
@@ -1,5 +1,5 @@
 export const RETRY = {
-  attempts: 3,
+  attempts: 10,
   backoffMs: 200,
 };
 
`;
