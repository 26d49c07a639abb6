# Builds the package of this folder, then an image with Node.js, ffmpeg and nothing that only the build needs.
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts --pack-destination /package

FROM node:22-bookworm-slim
RUN apt-get update \
  && apt-get install --no-install-recommends --yes ffmpeg \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /package/ /package/
RUN npm install --global --omit=dev /package/anyvmaf-*.tgz \
  && npm cache clean --force \
  && rm -rf /package
ENV ANYVMAF_CACHE=/tmp/anyvmaf
WORKDIR /videos
USER node
ENTRYPOINT ["anyvmaf"]
CMD ["--help"]
