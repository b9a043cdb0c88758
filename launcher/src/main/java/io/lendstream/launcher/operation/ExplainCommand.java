package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.time.TimeMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream explain}. */
@Command(
        name = "explain",
        description = {
            "Tell why a decision was made and what became of it, or why a GPU is not lent.",
            "Replays the domain's log: up to the decision, to say whether that gives what was recorded, or to its end, to see what the"
                    + " scheduler would do with the GPU now."
        },
        footer = {
            "",
            "Example: lendstream explain default/1/17 --bootstrap-server broker:9092",
            "         lendstream explain gpu/GPU-5a3f09c1 --bootstrap-server broker:9092",
            "         lendstream explain gpu --json --bootstrap-server broker:9092"
        })
public final class ExplainCommand extends ClusterCommand {
    private static final String GPU = "gpu";

    @Parameters(
            paramLabel = "ID",
            description = {
                "A decision: DOMAIN/EPOCH/SEQUENCE, as decisions and reports name it.",
                "gpu/GPU: why a GPU, or the MIG instances that it is cut into, are not lent.",
                "gpu: the same of all GPUs of inference."
            })
    private String id = "";

    @Option(
            names = "--no-replay",
            description =
                    "Leave the log alone, which takes long where it is long: tell what is recorded, and nothing more.")
    private boolean noReplay;

    @Override
    public Integer call() {
        if (isOfGpus(id)) {
            gpus(gpu(id));
        } else {
            decision(parsed(id));
        }
        return 0;
    }

    private void gpus(Optional<GpuId> wanted) {
        Cluster cluster = cluster();
        Connection.check(
                cluster.kafka(),
                cluster.topics(),
                List.of(TopicCatalogue.LEASES, TopicCatalogue.DOMAIN_EVENTS),
                cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        Map<String, Lease> leases = new TreeMap<>();
        reading.all(
                TopicCatalogue.LEASES,
                received -> received.value()
                        .ifPresentOrElse(
                                lease -> leases.put(received.key(), lease), () -> leases.remove(received.key())));
        var explained = new ExplainedGpus(leases.values(), wanted);
        if (!noReplay) {
            reading.values(TopicCatalogue.DOMAIN_EVENTS, explained::take);
        }
        boolean virtual = cluster.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL;
        Instant at = virtual ? Instant.EPOCH : Instant.now();
        if (json()) {
            print(explained.json(at));
        } else {
            print(explained.lines(at));
        }
    }

    private void decision(DecisionId wanted) {
        Cluster cluster = cluster();
        Connection.check(
                cluster.kafka(),
                cluster.topics(),
                List.of(TopicCatalogue.DECISIONS, TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.ACTUATION_REPORTS),
                cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        var decisions = new Found(wanted);
        reading.values(TopicCatalogue.DECISIONS, decisions::take);
        Decision decision = decisions.wanted();
        var explainer = new Explainer(decision);
        var orders = new CommandsInForce(decision);
        if (!noReplay) {
            reading.values(
                    TopicCatalogue.DOMAIN_EVENTS,
                    event -> {
                        if (event.domain().equals(wanted.domain())) {
                            explainer.take(event);
                            orders.take(event);
                        }
                    },
                    explainer::isDone);
        }
        reading.values(TopicCatalogue.ACTUATION_REPORTS, decisions::take);
        DecisionOutcome fate = DecisionOutcome.of(decision, decisions.reports, decisions.latest);
        var explained = new Explained(explainer.explanation(), fate, noReplay, orders.inForce(), cluster.topics());
        if (json()) {
            print(explained.json());
        } else {
            print(explained.lines());
        }
    }

    /** Whether ID names GPUs. A decision of a domain called {@code gpu} has numbers at its end. */
    static boolean isOfGpus(String id) {
        return id.equals(GPU) || (id.startsWith(GPU + "/") && !isDecision(id));
    }

    private static boolean isDecision(String id) {
        try {
            DecisionId.parse(id);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The GPU that ID names; empty for all. */
    static Optional<GpuId> gpu(String id) {
        return id.equals(GPU)
                ? Optional.empty()
                : Optional.of(new GpuId(UserError.checkedName("the GPU of ID", id.substring(GPU.length() + 1))));
    }

    static DecisionId parsed(String id) {
        try {
            DecisionId parsed = DecisionId.parse(id);
            UserError.checkedName("the domain of ID", parsed.domain().value());
            return parsed;
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(
                    "ID is '%s', but must be DOMAIN/EPOCH/SEQUENCE, such as default/1/17, or gpu/GPU, or gpu for all GPUs."
                            .formatted(id));
        }
    }

    /** Looks for a decision among all, and for what was said of it. */
    static final class Found {
        private final DecisionId id;
        private final Map<DomainId, DecisionId> first = new TreeMap<>();
        private final Map<DomainId, DecisionId> last = new TreeMap<>();
        private Optional<Decision> found = Optional.empty();
        private final List<ActuationReport> reports = new ArrayList<>();
        private Instant latest = Instant.EPOCH;

        Found(DecisionId id) {
            this.id = id;
        }

        void take(Decision decision) {
            DomainId domain = decision.id().domain();
            first.putIfAbsent(domain, decision.id());
            last.merge(domain, decision.id(), (one, other) -> one.compareTo(other) < 0 ? other : one);
            if (domain.equals(id.domain())) {
                latest = decision.at().isAfter(latest) ? decision.at() : latest;
            }
            if (found.isEmpty() && decision.id().equals(id)) {
                found = Optional.of(decision);
            }
        }

        void take(ActuationReport report) {
            if (report.domain().equals(id.domain())) {
                latest = report.at().isAfter(latest) ? report.at() : latest;
                if (report.decision().equals(id)) {
                    reports.add(report);
                }
            }
        }

        Decision wanted() {
            return found.orElseThrow(() -> UserError.failed(whatThereIs()));
        }

        private String whatThereIs() {
            DecisionId newest = last.get(id.domain());
            if (newest != null) {
                return "there is no decision %s; of domain %s the first kept is %s, and the last is %s."
                        .formatted(id, id.domain(), first.get(id.domain()), newest);
            }
            return last.isEmpty()
                    ? "there is no decision %s: none has been made yet.".formatted(id)
                    : "there is no decision %s: domain '%s' has none. Those that have: %s."
                            .formatted(id, id.domain(), last.keySet());
        }
    }
}
