# Lendstream's images. With nothing but docker (BuildKit, which is usual since 23):
#
#   docker build -t lendstream:0.1.0 .                                  every command and service but the Flink job
#   docker build -t lendstream-forecaster:0.1.0 --target forecaster .   Flink's image with the forecaster's job
#
# Where the jars are built already (./dev dist), --build-arg DIST=prebuilt takes them instead of building them again.
ARG DIST=build
ARG JAVA=17.0.19_10

FROM eclipse-temurin:${JAVA}-jdk-noble AS build
WORKDIR /source
COPY . .
RUN ./mvnw -B -ntp -q -DskipTests -Dspotless.check.skip -pl '!benchmarks,!fuzz' package && deploy/dist.sh /dist

FROM scratch AS prebuilt
COPY target/dist /dist

FROM ${DIST} AS dist

# What Flink's image lacks: the job, and how it finds its last checkpoint.
FROM flink:2.3.0-java17 AS forecaster
COPY --from=dist /dist/flink/flink-job /opt/lendstream/
USER root
RUN mkdir -p /var/lib/lendstream && chown flink:flink /var/lib/lendstream
COPY --from=dist /dist/flink/lendstream-forecaster-job.jar /opt/flink/usrlib/
USER flink
ENTRYPOINT ["/opt/lendstream/flink-job"]
CMD ["job"]

FROM eclipse-temurin:${JAVA}-jre-noble AS lendstream
# No user of that number is needed, and none of the base image's is used.
RUN mkdir -p /var/lib/lendstream && chown 10001:10001 /var/lib/lendstream
# Other people's jars change seldom, ours with every build: a layer for each.
COPY --from=dist /dist/base /opt/lendstream
COPY --from=dist /dist/ours /opt/lendstream
ENV LENDSTREAM_HEALTH_ADDRESS=0.0.0.0 \
    LENDSTREAM_HEALTH_PORT=9404 \
    LENDSTREAM_JAVA_OPTS="-XX:MaxRAMPercentage=60 -XX:+UseSerialGC -XX:-UsePerfData -Xss512k"
USER 10001:10001
WORKDIR /var/lib/lendstream
EXPOSE 9404
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/opt/lendstream/healthy"]
ENTRYPOINT ["/opt/lendstream/lendstream"]
CMD ["--help"]
