FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package has to be compiled on Node.js 22.
RUN npm ci --no-audit --no-fund --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY projections projections
COPY docs/receivers docs/receivers
COPY src src
RUN npm run build \
 && npm prune --omit=dev --no-audit --no-fund \
 && rm -rf node_modules/better-sqlite3-node20 \
 && node -e "require('better-sqlite3')(':memory:').close()"

FROM node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/projections projections
COPY docs/asyncapi.json docs/asyncapi.json
COPY --from=build /app/dist dist
# The command by its name: docker compose exec account-webhooks account-webhooks accounts register 42
RUN ln -s /app/dist/main.js /usr/local/bin/account-webhooks \
 && install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
# REST; health and metrics
EXPOSE 8080 9090
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.ADMIN_PORT || 9090) + '/health/ready').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Exec form: the service itself gets SIGTERM, and stops within 10 s. It starts no processes, so PID 1 has none to reap.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
