package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.history.KeptReason;
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
import io.lendstream.service.settings.Units;
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
import java.util.function.Supplier;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream explain}. */
@Command(
        name = "explain",
        description = {
            "Explain why a decision was made and its outcome, why a GPU is not lent, or which advice stands.",
            "Replays the domain's log up to the decision, after the nearest snapshot, and compares the result with the"
                    + " record. For a GPU it replays the log to its end to find what the scheduler would do with the GPU"
                    + " now; for advice, to find what can be approved.",
            "Reasons name queues with their quotas, kinds, what actuators cannot do, and parts of replicas and of"
                    + " gangs. It needs a deployment or a demo; a replay's decisions have their reasons in report.html and"
                    + " decisions.jsonl."
        },
        footer = {
            "Example: lendstream explain default/1/17 --bootstrap-server broker:9092",
            "         lendstream explain 17 --bootstrap-server broker:9092",
            "         lendstream explain job/bert-1 --bootstrap-server broker:9092",
            "         lendstream explain gpu/node-3/5 --bootstrap-server broker:9092",
            "         lendstream explain gpu --json --bootstrap-server broker:9092",
            "         lendstream explain advice --bootstrap-server broker:9092",
            "         lendstream explain 17 --from-beginning --bootstrap-server broker:9092"
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
            "DOMAIN/EPOCH/SEQUENCE, such as default/1/17, SEQUENCE if there is one domain, job/JOB, gpu/GPU, gpu for"
                    + " all GPUs, advice/DOMAIN, or advice for all domains.";
    private static final List<Topic<?>> OF_DECISIONS = List.of(
            TopicCatalogue.DECISIONS,
            TopicCatalogue.NODES,
            TopicCatalogue.DOMAIN_EVENTS,
            TopicCatalogue.CONTROL,
            TopicCatalogue.ACTUATION_REPORTS);
    private static final Pattern SEQUENCE = Pattern.compile("\\d{1,18}");

    @Parameters(
            paramLabel = "ID",
            description = {
                "A decision: DOMAIN/EPOCH/SEQUENCE, or SEQUENCE alone if there is only one domain.",
                "job/JOB: the last decision about a job, such as why it is refused.",
                "gpu/GPU: why a GPU or its MIG instances are not lent. GPU is a short name such as node-3/5, or a"
                        + " uuid.",
                "gpu: the same for all GPUs of inference.",
                "advice/DOMAIN: the advice of a domain that stands, with IDs for 'lendstream approve'; advice: of all"
                        + " domains."
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

    @Option(
            names = "--last",
            paramLabel = "TIME",
            description = {
                "With advice: estimate the gain of at least this time, such as 24h.",
                "Default: of the time since the last snapshot."
            })
    private String last = "";

    @Override
    public Integer call() {
        if (fromBeginning && !last.isEmpty()) {
            throw UserError.badUsage("--from-beginning and --last are both set; leave one out.");
        }
        if (!last.isEmpty() && !isOf(ADVICE, id)) {
            throw UserError.badUsage("--last is for advice, but ID is '%s'; leave it out.".formatted(id));
        }
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
            history.replayToTheEnd(domains, since(cluster), begin, take);
        }
    }

    /** The time that --last names. */
    private Optional<Instant> since(Cluster cluster) {
        if (last.isEmpty()) {
            return Optional.empty();
        }
        Duration time = Units.duration(last)
                .orElseThrow(() -> UserError.badUsage(
                        "--last is '%s', but must be a length of time such as 24h.".formatted(last)));
        if (isVirtual(cluster)) {
            throw UserError.badUsage("--last is set, but times of this cluster are virtual; use --from-beginning.");
        }
        return Optional.of(Instant.now().minus(time));
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

    private static void readReports(TopicScan reading, Optional<Instant> written, FoundDecision decisions) {
        reading.written(
                TopicCatalogue.ACTUATION_REPORTS,
                written.map(at -> at.minus(REPORTED_BEFORE)).orElse(Instant.EPOCH),
                written.map(at -> at.plus(REPORTED_AFTER)).orElse(Instant.MAX),
                decisions::take);
    }

    private void decision(DecisionId wanted) {
        Cluster cluster = cluster();
        Connection.check(cluster.kafka(), cluster.topics(), OF_DECISIONS, cluster.patience());
        var reading = new TopicScan(cluster, this::remark);
        var decisions = new FoundDecision(wanted);
        Explained explained;
        try (DomainHistory history = new DomainHistory(reading, cluster.topics(), this::remark)) {
            Optional<Instant> written = find(wanted, decisions, reading, history);
            Decision decision = decisions.wanted();
            var replay = new DecisionReplay(decision, history);
            Supplier<List<DomainEvent>> commands = () -> accepted(cluster, reading, written.orElse(Instant.MAX));
            if (fromBeginning) {
                replay.runFromBeginning(commands);
            } else if (!noReplay) {
                replay.run(commands);
            }
            if (replay.missesPlan()) {
                remark("the plan that the decision follows is older than the replay; its alternatives are shown with"
                        + " --from-beginning");
            }
            readReports(reading, written, decisions);
            explained = new Explained(
                    replay.explanation(),
                    DecisionOutcome.of(decision, decisions.reports, decisions.latest),
                    decisions.approval,
                    noReplay,
                    replay.inForce(),
                    cluster.topics(),
                    reading.gpuNames(),
                    kept(decision.id(), replay.explanation(), history));
        }
        if (json()) {
            print(explained.json());
        } else {
            print(marked(explained.lines(), cluster));
        }
    }

    /**
     * Finds a decision and returns when it was written, if its topic still has it. The approval of advice may come at
     * any time later.
     */
    private static Optional<Instant> find(
            DecisionId wanted, FoundDecision decisions, TopicScan reading, DomainHistory history) {
        Optional<Placed<Decision>> found = history.decision(wanted);
        if (found.filter(placed -> !placed.value().advisory()).isPresent()) {
            decisions.take(found.get().value());
            history.lastDecisions(wanted.domain(), decisions::take);
        } else {
            reading.values(TopicCatalogue.DECISIONS, decisions::take);
        }
        if (found.isEmpty() && !decisions.isFound()) {
            history.reason(wanted).flatMap(KeptReason::decision).ifPresent(decisions::take);
        }
        return found.map(Placed::written);
    }

    /** What was kept with a decision, if its log cannot be replayed. */
    private Optional<ExplainedKept> kept(DecisionId id, Explanation explanation, DomainHistory history) {
        return noReplay || explanation.made().isPresent()
                ? Optional.empty()
                : history.reason(id).map(reason -> new ExplainedKept(reason, history.firstEvent(id.domain())));
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
        DomainHistory.check(cluster);
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
}
