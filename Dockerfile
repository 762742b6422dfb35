# syntax=docker/dockerfile:1
FROM node:20-bookworm-slim AS build
WORKDIR /opt/veravox
COPY package.json package-lock.json .npmrc CMakeLists.txt tsconfig.json ./
COPY scripts scripts
COPY native native
COPY src src
# Set-up installs compilers and FFmpeg's headers, the npm packages, and builds. What only building or another system
# needs is left out of the image then; onnxruntime-node brings the libraries of every system.
RUN node scripts/setup.mjs \
 && npm prune --omit=dev \
 && rm -rf node_modules/onnxruntime-node/bin/napi-v6/darwin node_modules/onnxruntime-node/bin/napi-v6/win32

FROM node:20-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends libavformat59 libavcodec59 libavutil57 libswresample4 \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o node -g node /var/lib/veravox
WORKDIR /opt/veravox
COPY --from=build /opt/veravox/package.json ./
COPY --from=build /opt/veravox/node_modules node_modules
COPY --from=build /opt/veravox/build/addon/Release/veravox.node build/addon/Release/veravox.node
COPY --from=build /opt/veravox/dist dist
COPY models models
ENV NODE_ENV=production HOST=0.0.0.0 VERAVOX_DATA_DIR=/var/lib/veravox
USER node
VOLUME /var/lib/veravox
EXPOSE 8080
# Without npm or a shell in between, so that the stop signal reaches the server.
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
