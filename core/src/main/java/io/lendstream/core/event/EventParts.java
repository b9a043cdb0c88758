package io.lendstream.core.event;

import java.util.Optional;

/** The questions of {@link Event} about one kind; made once, as they are asked in every step. */
final class EventParts {
    static final Event.Cases<Optional<Node>> NODE = new OneCase<>() {
        @Override
        public Optional<Node> node(Node node) {
            return Optional.of(node);
        }
    };

    static final Event.Cases<Optional<NodeLeft>> NODE_LEFT = new OneCase<>() {
        @Override
        public Optional<NodeLeft> nodeLeft(NodeLeft left) {
            return Optional.of(left);
        }
    };

    static final Event.Cases<Optional<GpuTelemetry>> TELEMETRY = new OneCase<>() {
        @Override
        public Optional<GpuTelemetry> telemetry(GpuTelemetry telemetry) {
            return Optional.of(telemetry);
        }
    };

    static final Event.Cases<Optional<SampleSummary>> SAMPLE_SUMMARY = new OneCase<>() {
        @Override
        public Optional<SampleSummary> sampleSummary(SampleSummary summary) {
            return Optional.of(summary);
        }
    };

    static final Event.Cases<Optional<InferenceService>> SERVICE = new OneCase<>() {
        @Override
        public Optional<InferenceService> service(InferenceService service) {
            return Optional.of(service);
        }
    };

    static final Event.Cases<Optional<RequestRate>> RATE = new OneCase<>() {
        @Override
        public Optional<RequestRate> rate(RequestRate rate) {
            return Optional.of(rate);
        }
    };

    static final Event.Cases<Optional<TrainingJob>> JOB = new OneCase<>() {
        @Override
        public Optional<TrainingJob> job(TrainingJob job) {
            return Optional.of(job);
        }
    };

    static final Event.Cases<Optional<DemandForecast>> FORECAST = new OneCase<>() {
        @Override
        public Optional<DemandForecast> forecast(DemandForecast forecast) {
            return Optional.of(forecast);
        }
    };

    static final Event.Cases<Optional<ActuationReport>> REPORT = new OneCase<>() {
        @Override
        public Optional<ActuationReport> report(ActuationReport report) {
            return Optional.of(report);
        }
    };

    static final Event.Cases<Optional<ControlCommand>> COMMAND = new OneCase<>() {
        @Override
        public Optional<ControlCommand> command(ControlCommand command) {
            return Optional.of(command);
        }
    };

    static final Event.Cases<Optional<ClusterQueue>> QUEUE = new OneCase<>() {
        @Override
        public Optional<ClusterQueue> clusterQueue(ClusterQueue queue) {
            return Optional.of(queue);
        }
    };

    static final Event.Cases<Optional<ActuatorDescription>> DESCRIPTION = new OneCase<>() {
        @Override
        public Optional<ActuatorDescription> actuatorDescription(ActuatorDescription description) {
            return Optional.of(description);
        }
    };

    static final Event.Cases<Optional<DomainSettings>> DOMAIN_SETTINGS = new OneCase<>() {
        @Override
        public Optional<DomainSettings> domainSettings(DomainSettings settings) {
            return Optional.of(settings);
        }
    };

    static final Event.Cases<Optional<SchedulerStarted>> STARTED = new OneCase<>() {
        @Override
        public Optional<SchedulerStarted> started(SchedulerStarted started) {
            return Optional.of(started);
        }
    };

    static final Event.Cases<Optional<Tick>> TICK = new OneCase<>() {
        @Override
        public Optional<Tick> tick(Tick tick) {
            return Optional.of(tick);
        }
    };

    private EventParts() {}

    /** Finds nothing in any case, for questions about one case, which override it. */
    private abstract static class OneCase<T> implements Event.Cases<Optional<T>> {
        @Override
        public Optional<T> node(Node node) {
            return Optional.empty();
        }

        @Override
        public Optional<T> nodeLeft(NodeLeft left) {
            return Optional.empty();
        }

        @Override
        public Optional<T> telemetry(GpuTelemetry telemetry) {
            return Optional.empty();
        }

        @Override
        public Optional<T> sampleSummary(SampleSummary summary) {
            return Optional.empty();
        }

        @Override
        public Optional<T> service(InferenceService service) {
            return Optional.empty();
        }

        @Override
        public Optional<T> rate(RequestRate rate) {
            return Optional.empty();
        }

        @Override
        public Optional<T> job(TrainingJob job) {
            return Optional.empty();
        }

        @Override
        public Optional<T> progress(TrainingProgress progress) {
            return Optional.empty();
        }

        @Override
        public Optional<T> forecast(DemandForecast forecast) {
            return Optional.empty();
        }

        @Override
        public Optional<T> report(ActuationReport report) {
            return Optional.empty();
        }

        @Override
        public Optional<T> command(ControlCommand command) {
            return Optional.empty();
        }

        @Override
        public Optional<T> clusterQueue(ClusterQueue queue) {
            return Optional.empty();
        }

        @Override
        public Optional<T> actuatorDescription(ActuatorDescription description) {
            return Optional.empty();
        }

        @Override
        public Optional<T> domainSettings(DomainSettings settings) {
            return Optional.empty();
        }

        @Override
        public Optional<T> started(SchedulerStarted started) {
            return Optional.empty();
        }

        @Override
        public Optional<T> tick(Tick tick) {
            return Optional.empty();
        }
    }
}
