package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.event.TrustOrder;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.scheduler.TrustRules;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.operation.ControlOrder.Taken;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.time.TimeMode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lendstream trust}. */
@Command(
        name = "trust",
        description = {
            "Show or change the level of trust: how far decisions are put in force, in one domain or in all.",
            "Without LEVEL it replays the log after the last snapshot and shows each level, since when, and whether the next one may be taken.",
            "The level rises one step at a time, after scheduler.trust-step-after (3d) without a late reclaim. It may be lowered at any time;"
                    + " loans beyond the lower level are then reclaimed with notice. Exits with 1 if the scheduler refuses the level.",
            "With one and share it first replays the log too, for at most 10 s, and names the loans that would be taken back as beyond the level."
        },
        footer = {
            "Example: lendstream trust --bootstrap-server broker:9092",
            "         lendstream trust one --service chat --domain east --reason TEXT",
            "         lendstream trust share --domain east --dry-run",
            "         lendstream trust advise --domain east --reason 'new driver'"
        })
public final class TrustCommand extends ControlCommands.OfDomains {
    /** An order does not wait longer for what is known of its effects. */
    private static final Duration PREVIEW = Duration.ofSeconds(10);

    @Parameters(
            paramLabel = "LEVEL",
            arity = "0..1",
            description = {
                "observe: no decision is made. advise: decisions are only advice.",
                "one: only GPUs that one service leaves idle are lent (--service).",
                "share: at most scheduler.trust-share of inference GPUs is lent. all: no limit but the settings."
            })
    private Optional<String> level = Optional.empty();

    @Option(names = "--service", paramLabel = "S", description = "With one: the service whose idle GPUs may be lent.")
    private Optional<String> service = Optional.empty();

    @Option(
            names = "--anyway",
            description = "Raise the level before its time, or by several steps. The log keeps who did so.")
    private boolean anyway;

    @Option(
            names = "--dry-run",
            description = {
                "Only name the loans that the level would take back, or why the scheduler would refuse it.",
                "Exit status 1 if it would, or if that is not known."
            })
    private boolean dryRun;

    public TrustCommand() {
        super(Kind.TRUST, "");
    }

    @Override
    public Integer call() {
        if (level.isEmpty()) {
            return show();
        }
        checkNames();
        return dryRun ? preview() : super.call();
    }

    /** Shows what the order would do, without giving it. */
    private int preview() {
        Cluster cluster = cluster();
        DomainHistory.check(cluster);
        TopicScan reading = new TopicScan(cluster, this::remark);
        GpuNames names = json() ? new GpuNames() : reading.gpuNames();
        List<ControlCommand> orders = ordered(reading, reading.now());
        checkRights(cluster, orders);
        boolean isFollowed = true;
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        for (ControlCommand order : orders) {
            TrustPreview preview = preview(cluster, reading, order);
            isFollowed &= preview.isFollowed();
            all.add(preview.json());
            if (!json()) {
                print(names.in(preview.lines()));
            }
        }
        if (json()) {
            print(all);
        }
        return isFollowed ? 0 : 1;
    }

    private TrustPreview preview(Cluster cluster, TopicScan reading, ControlCommand order) {
        LendingExplainer log = new LendingExplainer(order.domain());
        try (DomainHistory history = new DomainHistory(reading, cluster.topics(), this::remark)) {
            history.replayToTheEnd(List.of(order.domain()), Optional.empty(), log::after, log::take);
        }
        return TrustPreview.of(log, order);
    }

    private TrustLevel ordered() {
        try {
            return TrustRules.level(level.orElseThrow());
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(
                    "LEVEL is '%s', but must be observe, advise, one, share or all.".formatted(level.orElse("")));
        }
    }

    @Override
    void checkNames() {
        super.checkNames();
        service.ifPresent(name -> UserError.checkedName("--service", name));
        if ((ordered() == TrustLevel.ONE_SERVICE) != service.isPresent()) {
            throw UserError.badUsage(
                    service.isPresent()
                            ? "--service belongs to the level one; leave it out for %s."
                                    .formatted(ordered().label())
                            : "the level one needs the service whose idle GPUs may be lent: add --service S.");
        }
    }

    /** Levels that limit loans take back what is beyond them: it is named first. A level of advice is not delayed. */
    @Override
    List<ControlCommand> commands(TopicScan reading, Instant now) {
        List<ControlCommand> orders = ordered(reading, now);
        if (ordered().limitsLoans()) {
            GpuNames names = reading.gpuNames();
            long until = System.nanoTime() + PREVIEW.toNanos();
            orders.forEach(order -> names.in(TrustPreview.until(until, order, () -> preview(cluster(), reading, order))
                            .lines())
                    .forEach(this::remark));
        }
        return orders;
    }

    private List<ControlCommand> ordered(TopicScan reading, Instant now) {
        TrustOrder order = new TrustOrder(ordered(), service.map(ServiceId::new), anyway);
        return super.commands(reading, now).stream()
                .map(command -> command.ordering(order))
                .toList();
    }

    @Override
    String done() {
        return "the level of trust is " + ordered().label();
    }

    /** The scheduler answers each order with a hold. One of an older version ignores the order. */
    @Override
    boolean isFollowed(Taken taken) {
        return taken.decisions().stream()
                .anyMatch(decision -> decision.reason().is(ReasonCode.TRUST)
                        && decision.reason().numbers().getOrDefault("refused", 0.0) == 0);
    }

    private int show() {
        Cluster cluster = cluster();
        DomainHistory.check(cluster);
        var shown = new ShownTrust(domain().map(DomainId::new));
        var reading = new TopicScan(cluster, this::remark);
        Set<DomainId> domains = new TreeSet<>();
        domain().ifPresentOrElse(
                        name -> domains.add(new DomainId(name)),
                        () -> reading.values(TopicCatalogue.NODES, node -> domains.add(node.domain())));
        try (DomainHistory history = new DomainHistory(reading, cluster.topics(), this::remark)) {
            history.replayToTheEnd(domains, Optional.empty(), shown::begin, shown::take);
        }
        boolean isVirtual = cluster.settings().get(CommonKeys.TIME) == TimeMode.VIRTUAL;
        Instant at = isVirtual ? Instant.EPOCH : Instant.now();
        if (json()) {
            print(shown.json(at));
        } else {
            print(shown.lines(at));
        }
        return 0;
    }
}
