package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.launcher.operation.SequenceSearch.Placed;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream explain}. */
@Command(
        name = "explain",
        description = {
            "Explain why a decision was made and its outcome, why a GPU is not lent, or which advice stands.",
            "Replays the domain's log up to the decision, after the nearest snapshot, and compares the result with the record. For a GPU it"
                    + " replays the log to its end to find what the scheduler would do with the GPU now; for advice, to find what can be approved.",
            "Reasons name queues with their quotas, kinds, what actuators cannot do, and parts of replicas and of gangs. It needs a deployment "
                    + "or a demo; a replay's decisions have their reasons in report.html and decisions.jsonl."
        },
        footer = {
            "Example: lendstream explain default/1/17 --bootstrap-server broker:9092",
            "         lendstream explain 17 --bootstrap-server broker:9092",
            "         lendstream explain job/bert-1 --bootstrap-server broker:9092",
            "         lendstream explain gpu/node-3/5 --bootstrap-server broker:9092",
            "         lendstream explain gpu --json --bootstrap-server broker:9092",
            "         lendstream explain advice --bootstrap-server broker:9092",
            "         lendstream explain default/1/17 --from-beginning --bootstrap-server broker:9092"
        })
public final class ExplainCommand extends ClusterCommand {
    /** Reports on a decision are looked for from this long before it was written, for clocks may differ. */
    private static final Duration REPORTED_BEFORE = Duration.ofHours(1);

    /** So long after a decision its reports are looked for; most are there after minutes. */
    private static final Duration REPORTED_AFTER = Duration.ofHours(6);

    private static final String GPU = "gpu";
    private static final String ADVICE = "advice";
    private static final String JOB = "job";
    private static final String FORM =
            "DOMAIN/EPOCH/SEQUENCE, such as default/1/17, SEQUENCE if there is one domain, job/JOB, gpu/GPU, gpu for all GPUs, advice/DOMAIN, or advice for all domains.";
    private static final List<Topic<?>> OF_DECISIONS = List.of(
            TopicCatalogue.DECISIONS,
            TopicCatalogue.NODES,
            TopicCatalogue.DOMAIN_EVENTS,
            TopicCatalogue.SNAPSHOTS,
            TopicCatalogue.CONTROL,
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

    @Option(
            names = "--from-beginning",
            description = "Replay the log from its beginning, and not after a snapshot. Can take long.")
    private boolean fromBeginning;

    @Override
    public Integer call() {
        if (noReplay && fromBeginning) {
            throw UserError.badUsage("--no-replay and --from-beginning are both set; leave one out.");
        }
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
                List.of(
                        TopicCatalogue.LEASES,
                        TopicCatalogue.NODES,
                        TopicCatalogue.DOMAIN_EVENTS,
                        TopicCatalogue.SNAPSHOTS),
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
            explained.read();
            replayToTheEnd(cluster, reading, explained.domains(), explained::begin, explained::take);
        }
        Instant at = isVirtual(cluster) ? Instant.EPOCH : Instant.now();
        if (json()) {
            print(explained.json(at));
        } else {
            print(marked(explained.lines(at), cluster));
        }
    }

    /**
     * Replays the logs of domains.
     *
     * @param begin takes the snapshot of a domain after which its log is replayed
     */
    private void replayToTheEnd(
            Cluster cluster,
            TopicScan reading,
            Collection<DomainId> domains,
            Consumer<Snapshot> begin,
            Consumer<DomainEvent> take) {
        if (fromBeginning) {
            reading.values(TopicCatalogue.DOMAIN_EVENTS, take);
            return;
        }
        try (DomainHistory history = new DomainHistory(reading, cluster.topics(), this::remark)) {
            for (DomainId domain : domains) {
                Optional<Snapshot> start = history.snapshot(domain, Long.MAX_VALUE);
                start.ifPresent(begin);
                history.replay(domain, start.map(Snapshot::sequence).orElse(0L), take, () -> false);
            }
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
        Explained explained;
        try (DomainHistory history = new DomainHistory(reading, cluster.topics(), this::remark)) {
            Instant written = find(wanted, decisions, reading, history);
            Decision decision = decisions.wanted();
            var replay = new DecisionReplay(decision, history);
            if (fromBeginning) {
                replay.runFromBeginning();
            } else if (!noReplay) {
                replay.run(() -> accepted(cluster, reading, written));
            }
            if (replay.missesPlan()) {
                remark("the plan that the decision follows is older than the replay; its alternatives are shown with"
                        + " --from-beginning");
            }
            reading.written(
                    TopicCatalogue.ACTUATION_REPORTS,
                    written.minus(REPORTED_BEFORE),
                    written.plus(REPORTED_AFTER),
                    decisions::take);
            explained = new Explained(
                    replay.explanation(),
                    DecisionOutcome.of(decision, decisions.reports, decisions.latest),
                    decisions.approval,
                    noReplay,
                    replay.inForce(),
                    cluster.topics(),
                    reading.gpuNames());
        }
        if (json()) {
            print(explained.json());
        } else {
            print(marked(explained.lines(), cluster));
        }
    }

    /** Finds a decision and returns when it was written; the approval of advice may come at any time later. */
    private static Instant find(DecisionId wanted, Found decisions, TopicScan reading, DomainHistory history) {
        Optional<Placed<Decision>> found = history.decision(wanted);
        if (found.filter(placed -> !placed.value().advisory()).isPresent()) {
            decisions.take(found.get().value());
            history.lastDecisions(wanted.domain(), decisions::take);
        } else {
            reading.values(TopicCatalogue.DECISIONS, decisions::take);
        }
        return found.map(Placed::written).orElse(Instant.EPOCH);
    }

    /** The events of lasting commands that were accepted before a time. */
    private static List<DomainEvent> accepted(Cluster cluster, TopicScan reading, Instant written) {
        var search = new CommandSearch();
        reading.all(TopicCatalogue.CONTROL, received -> {
            if (!received.written().isAfter(written)) {
                search.take(received);
            }
        });
        try (LogReader log = new LogReader(reading, cluster.topics())) {
            return log.accepted(search);
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
                List.of(TopicCatalogue.NODES, TopicCatalogue.DOMAIN_EVENTS, TopicCatalogue.SNAPSHOTS),
                cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        var explained = new ExplainedAdvice(domain.map(DomainId::new), reading.gpuNames());
        Set<DomainId> domains = new TreeSet<>();
        domain.ifPresentOrElse(
                name -> domains.add(new DomainId(name)),
                () -> reading.values(TopicCatalogue.NODES, node -> domains.add(node.domain())));
        replayToTheEnd(cluster, reading, domains, explained::begin, explained::take);
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
