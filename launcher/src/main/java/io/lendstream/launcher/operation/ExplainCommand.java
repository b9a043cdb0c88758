package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.schemas.topics.Topic;
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
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream explain}. */
@Command(
        name = "explain",
        description = {
            "Explain why a decision was made and its outcome, why a GPU is not lent, or which advice stands.",
            "Replays the domain's log up to the decision and compares the result with the record. For a GPU it replays the whole log"
                    + " to find what the scheduler would do with the GPU now; for advice, to find what can be approved.",
            "Reasons name queues with their quotas, kinds, what actuators cannot do, and parts of replicas and of gangs. It needs a deployment "
                    + "or a demo; a replay's decisions have their reasons in report.html and decisions.jsonl."
        },
        footer = {
            "Example: lendstream explain default/1/17 --bootstrap-server broker:9092",
            "         lendstream explain 17 --bootstrap-server broker:9092",
            "         lendstream explain job/bert-1 --bootstrap-server broker:9092",
            "         lendstream explain gpu/node-3/5 --bootstrap-server broker:9092",
            "         lendstream explain gpu --json --bootstrap-server broker:9092",
            "         lendstream explain advice --bootstrap-server broker:9092"
        })
public final class ExplainCommand extends ClusterCommand {
    private static final String GPU = "gpu";
    private static final String ADVICE = "advice";
    private static final String JOB = "job";
    private static final String FORM =
            "DOMAIN/EPOCH/SEQUENCE, such as default/1/17, SEQUENCE if there is one domain, job/JOB, gpu/GPU, gpu for all GPUs, advice/DOMAIN, or advice for all domains.";
    private static final List<Topic<?>> OF_DECISIONS = List.of(
            TopicCatalogue.DECISIONS,
            TopicCatalogue.NODES,
            TopicCatalogue.DOMAIN_EVENTS,
            TopicCatalogue.ACTUATION_REPORTS);
    private static final Pattern SEQUENCE = Pattern.compile("\\d{1,18}");

    @Parameters(
            paramLabel = "ID",
            description = {
                "A decision: DOMAIN/EPOCH/SEQUENCE, or SEQUENCE alone if there is only one domain.",
                "job/JOB: the last decision about a job, such as why it is refused.",
                "gpu/GPU: why a GPU or its MIG instances are not lent. GPU is a short name such as node-3/5, or a uuid.",
                "gpu: the same for all GPUs of inference.",
                "advice/DOMAIN: the advice of a domain that stands, with IDs for 'lendstream approve'; advice: of all domains."
            })
    private String id = "";

    @Option(
            names = "--no-replay",
            description = "Do not replay the log, which can take long. Shows only the recorded facts.")
    private boolean noReplay;

    @Override
    public Integer call() {
        if (isOf(GPU, id)) {
            gpus(named(GPU, id));
        } else if (isOf(ADVICE, id)) {
            advice(named(ADVICE, id));
        } else if (id.startsWith(JOB + "/") && isOf(JOB, id)) {
            decision(ofJob(named(JOB, id).orElseThrow()));
        } else if (SEQUENCE.matcher(id).matches()) {
            decision(bySequence(id));
        } else {
            decision(parsed(id, FORM));
        }
        return 0;
    }

    private void gpus(Optional<String> wanted) {
        Cluster cluster = cluster();
        Connection.check(
                cluster.kafka(),
                cluster.topics(),
                List.of(TopicCatalogue.LEASES, TopicCatalogue.NODES, TopicCatalogue.DOMAIN_EVENTS),
                cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        GpuNames names = reading.gpuNames();
        Map<String, Lease> leases = new TreeMap<>();
        reading.all(
                TopicCatalogue.LEASES,
                received -> received.value()
                        .ifPresentOrElse(
                                lease -> leases.put(received.key(), lease), () -> leases.remove(received.key())));
        List<GpuId> known = leases.values().stream().map(Lease::gpuId).toList();
        var explained = new ExplainedGpus(leases.values(), wanted.map(name -> names.named(name, known)), names);
        if (!noReplay) {
            reading.values(TopicCatalogue.DOMAIN_EVENTS, explained::take);
        }
        Instant at = isVirtual(cluster) ? Instant.EPOCH : Instant.now();
        if (json()) {
            print(explained.json(at));
        } else {
            print(marked(explained.lines(at), cluster));
        }
    }

    private static boolean isVirtual(Cluster cluster) {
        return cluster.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL;
    }

    /** The lines, with a remark if their times are virtual. */
    private static List<String> marked(List<String> lines, Cluster cluster) {
        List<String> marked = new ArrayList<>(lines);
        if (isVirtual(cluster)) {
            marked.add("(all times are virtual)");
        }
        return marked;
    }

    /** The decision with this number in the only domain. */
    private DecisionId bySequence(String number) {
        Cluster cluster = cluster();
        Connection.check(cluster.kafka(), cluster.topics(), List.of(TopicCatalogue.DECISIONS), cluster.patience());
        var numbered = new DecisionsByNumber(number);
        new TopicScan(cluster, this::remark).values(TopicCatalogue.DECISIONS, numbered::take);
        return numbered.wanted();
    }

    /** The newest decision about a job. */
    private DecisionId ofJob(String job) {
        Cluster cluster = cluster();
        Connection.check(cluster.kafka(), cluster.topics(), List.of(TopicCatalogue.DECISIONS), cluster.patience());
        var search = new LastOfJob(job);
        new TopicScan(cluster, this::remark).values(TopicCatalogue.DECISIONS, search::take);
        return search.wanted();
    }

    private void decision(DecisionId wanted) {
        Cluster cluster = cluster();
        Connection.check(cluster.kafka(), cluster.topics(), OF_DECISIONS, cluster.patience());
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
        var explained = new Explained(
                explainer.explanation(),
                DecisionOutcome.of(decision, decisions.reports, decisions.latest),
                decisions.approval,
                noReplay,
                orders.inForce(),
                cluster.topics(),
                reading.gpuNames());
        if (json()) {
            print(explained.json());
        } else {
            print(marked(explained.lines(), cluster));
        }
    }

    private void advice(Optional<String> domain) {
        if (noReplay) {
            throw UserError.badUsage("--no-replay is set, but the advice that stands is in the log; leave it out.");
        }
        Cluster cluster = cluster();
        Connection.check(
                cluster.kafka(),
                cluster.topics(),
                List.of(TopicCatalogue.NODES, TopicCatalogue.DOMAIN_EVENTS),
                cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        var explained = new ExplainedAdvice(domain.map(DomainId::new), reading.gpuNames());
        reading.values(TopicCatalogue.DOMAIN_EVENTS, explained::take);
        Instant at = isVirtual(cluster) ? Instant.EPOCH : Instant.now();
        if (json()) {
            print(explained.json(at));
        } else {
            print(marked(explained.lines(at), cluster));
        }
    }

    /** Whether ID is of a kind, such as {@code gpu}. A decision of a domain of that name ends with two numbers. */
    static boolean isOf(String kind, String id) {
        return id.equals(kind) || (id.startsWith(kind + "/") && !isDecision(id));
    }

    private static boolean isDecision(String id) {
        try {
            DecisionId.parse(id);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The name after the kind in ID; empty for all. */
    static Optional<String> named(String kind, String id) {
        return id.equals(kind)
                ? Optional.empty()
                : Optional.of(UserError.checkedName(
                        "the %s of ID".formatted(kind.equals(GPU) ? "GPU" : kind.equals(JOB) ? JOB : "domain"),
                        id.substring(kind.length() + 1)));
    }

    /** A decision by its ID; {@code form} ends the sentence about the forms that ID may have. */
    static DecisionId parsed(String id, String form) {
        try {
            DecisionId parsed = DecisionId.parse(id);
            UserError.checkedName("the domain of ID", parsed.domain().value());
            return parsed;
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage("ID is '%s', but must be %s".formatted(id, form));
        }
    }

    /** Searches all decisions for one, and collects its reports. */
    static final class Found {
        private final DecisionId id;
        private final ApprovalSearch approval;
        private final Map<DomainId, DecisionId> first = new TreeMap<>();
        private final Map<DomainId, DecisionId> last = new TreeMap<>();
        private Optional<Decision> found = Optional.empty();
        private final List<ActuationReport> reports = new ArrayList<>();
        private Instant latest = Instant.EPOCH;

        Found(DecisionId id) {
            this.id = id;
            this.approval = new ApprovalSearch(id);
        }

        void take(Decision decision) {
            approval.take(decision);
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
                return "there is no decision %s; domain %s has decisions %s to %s."
                        .formatted(id, id.domain(), first.get(id.domain()), newest);
            }
            return last.isEmpty()
                    ? "there is no decision %s: none has been made yet.".formatted(id)
                    : "there is no decision %s: domain '%s' has no decisions. Domains with decisions: %s."
                            .formatted(id, id.domain(), last.keySet());
        }
    }
}
