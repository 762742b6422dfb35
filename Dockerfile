# syntax=docker/dockerfile:1
# A tag moves to newer builds with security updates. For an image that can be built again bit by bit, name a digest:
#   docker build --build-arg NODE_IMAGE=node:22-bookworm-slim@sha256:... .
ARG NODE_IMAGE=node:22-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /opt/veravox
COPY package.json package-lock.json .npmrc CMakeLists.txt tsconfig.json ./
COPY scripts scripts
COPY native native
COPY client client
COPY dashboard dashboard
COPY src src
# docker build --build-arg COMMIT=$(git rev-parse HEAD) makes the image say what it was built from.
ARG COMMIT=
# Set-up installs compilers and FFmpeg's headers, the npm packages, and builds. What only building or another platform
# needs is left out of the image then.
RUN VERAVOX_COMMIT=$COMMIT node scripts/setup.mjs \
 && npm prune --omit=dev \
 && node scripts/container/unneeded-files.mjs \
 && node scripts/container/licences.mjs > licences.txt \
 && node scripts/container/licences.mjs --cyclonedx > sbom.cdx.json \
 && chmod +x dist/cli/main.js

FROM ${NODE_IMAGE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends libavformat59 libavcodec59 libavutil57 libswresample4 \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o node -g node /var/lib/veravox \
 && ln -s /opt/veravox/dist/cli/main.js /usr/local/bin/veravox
WORKDIR /opt/veravox
COPY --from=build /opt/veravox/package.json ./
COPY --from=build /opt/veravox/node_modules node_modules
COPY --from=build /opt/veravox/build/addon/Release/veravox.node build/addon/Release/veravox.node
COPY --from=build /opt/veravox/dist dist
COPY --from=build /opt/veravox/sbom.cdx.json /opt/veravox/licences.txt ./
COPY LICENSE ./
COPY models models
COPY scripts/container/health.sh health.sh
# `docker stop` waits for 10 s before it kills.
ENV NODE_ENV=production HOST=0.0.0.0 VERAVOX_DATA_DIR=/var/lib/veravox \
  VERAVOX_FIRST_KEY_FILE=/var/lib/veravox/first-key \
  VERAVOX_STOP_GRACE_MS=1000 VERAVOX_STOP_DRAIN_MS=7000
USER node
VOLUME /var/lib/veravox
EXPOSE 8080
# Without npm or a shell in between, so that the stop signal reaches the server.
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/bin/bash", "/opt/veravox/health.sh"]
