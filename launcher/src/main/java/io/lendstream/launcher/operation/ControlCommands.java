package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.operation.ControlOrder.Taken;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands of operators to schedulers, such as {@code freeze} and {@code thaw}. */
public final class ControlCommands {
    private ControlCommands() {}

    /** Stops loans and changes of jobs until thawed. */
    @Command(
            name = "freeze",
            description = {
                "Stop new loans, renewals and changes of jobs, in one domain or in all.",
                "Reclaims for inference continue."
            },
            footer = "Example: lendstream freeze --reason 'upgrade of the switches' --domain east")
    public static final class Freeze extends OfDomains {
        public Freeze() {
            super(
                    Kind.FREEZE,
                    "frozen: no new loans, no renewals of loans and no changes of jobs; reclaims for inference continue");
        }
    }

    /** Ends a freeze or a reclaim of everything. */
    @Command(
            name = "thaw",
            description = "End a freeze, and allow loans again after reclaim-all.",
            footer = "Example: lendstream thaw --domain east")
    public static final class Thaw extends OfDomains {
        public Thaw() {
            super(Kind.THAW, "thawed: loans and changes of jobs are allowed");
        }
    }

    /** The kill switch. */
    @Command(
            name = "reclaim-all",
            description = {
                "Reclaim every loan, with notice, and lend nothing until thawed.",
                "Training continues on its own GPUs."
            },
            footer = "Example: lendstream reclaim-all --reason 'launch today'")
    public static final class ReclaimAll extends OfDomains {
        public ReclaimAll() {
            super(Kind.RECLAIM_ALL, "all loans are reclaimed; nothing is lent until 'lendstream thaw'");
        }
    }

    /** Switches between advice and binding decisions. */
    @Command(
            name = "advisory",
            description = {
                "Switch advisory mode on or off: decisions are then only advice.",
                "Advice is published and marked; no actuator carries it out unless 'lendstream approve' approves it."
            },
            footer = "Example: lendstream advisory on --domain east")
    public static final class Advisory extends OfDomains {
        @Parameters(paramLabel = "on|off", description = "on: decisions are advice; off: decisions are binding.")
        private Switch wanted = Switch.ON;

        /** A position of the switch. */
        enum Switch {
            ON,
            OFF
        }

        public Advisory() {
            super(Kind.ADVISORY_ON, "");
        }

        @Override
        Kind kind() {
            return wanted == Switch.ON ? Kind.ADVISORY_ON : Kind.ADVISORY_OFF;
        }

        @Override
        String done() {
            return wanted == Switch.ON
                    ? "decisions are advice from now on; actuators do not carry them out"
                    : "advisory mode is off; decisions are carried out as far as the level of trust allows";
        }
    }

    /** Approves advice. */
    @Command(
            name = "approve",
            description = {
                "Approve advice: the scheduler makes the same decision again, binding and with a new ID.",
                "It does so if the decision is still possible: GPUs unchanged, the job not being resized, not frozen.",
                "'lendstream explain advice' lists the advice that stands."
            },
            footer = "Example: lendstream approve east/1/17")
    public static final class Approve extends ControlBase {
        private static final String FORM =
                "DOMAIN/EPOCH/SEQUENCE, such as default/1/17; 'lendstream explain advice' lists IDs.";

        @Parameters(paramLabel = "ID", description = "The decision: DOMAIN/EPOCH/SEQUENCE.")
        private String id = "";

        @Override
        void checkNames() {
            ExplainCommand.parsed(id, FORM);
        }

        @Override
        List<ControlCommand> commands(TopicScan reading, Instant now) {
            DecisionId wanted = ExplainCommand.parsed(id, FORM);
            var decisions = new FoundDecision(wanted);
            reading.values(TopicCatalogue.DECISIONS, decisions::take);
            Decision decision = decisions.wanted();
            if (!decision.advisory()) {
                throw UserError.failed("decision %s is binding, not advice; it needs no approval.".formatted(wanted));
            }
            return List.of(command(wanted.domain(), now, Kind.APPROVE, Optional.of(wanted), List.of()));
        }

        @Override
        String done() {
            return "%s is approved".formatted(id);
        }

        /** The scheduler answers an approval that it cannot follow with a hold. */
        @Override
        boolean isFollowed(Taken taken) {
            return taken.decisions().stream()
                    .anyMatch(decision -> !decision.action().isHold());
        }
    }

    /** Puts repaired GPUs back to work. */
    @Command(
            name = "reset",
            description = "Put quarantined GPUs back to work after their repair.",
            footer = "Example: lendstream reset node-3/5 --reason 'reseated'")
    public static final class Reset extends ControlBase {
        @Parameters(paramLabel = "GPU", arity = "1..*", description = "Short names such as node-3/5, or uuids.")
        private List<String> gpus = new ArrayList<>();

        @Override
        void checkNames() {
            gpus.forEach(name -> UserError.checkedName("GPU", name));
        }

        @Override
        List<ControlCommand> commands(TopicScan reading, Instant now) {
            SortedMap<GpuId, Lease> leases = new TreeMap<>();
            reading.values(TopicCatalogue.LEASES, lease -> leases.put(lease.gpuId(), lease));
            SortedMap<DomainId, List<GpuId>> byDomain = new TreeMap<>();
            GpuNames names = reading.gpuNames();
            for (String name : gpus) {
                Lease lease = leases.get(names.named(name, leases.keySet()));
                if (lease == null) {
                    throw UserError.failed(
                            "GPU '%s' is unknown: it has no lease. 'lendstream top' lists the GPUs.".formatted(name));
                }
                if (lease.owner().isForeign()) {
                    throw UserError.failed("GPU %s is %s. A reset cannot end that; stop what uses it."
                            .formatted(name, EventText.of(lease.owner())));
                }
                if (!lease.owner().isQuarantined()) {
                    throw UserError.failed("GPU %s is not quarantined, but %s; there is nothing to reset."
                            .formatted(name, EventText.of(lease.owner())));
                }
                byDomain.computeIfAbsent(lease.domain(), domain -> new ArrayList<>())
                        .add(lease.gpuId());
            }
            return byDomain.entrySet().stream()
                    .map(entry -> command(entry.getKey(), now, Kind.RESET, Optional.empty(), entry.getValue()))
                    .toList();
        }

        @Override
        String done() {
            return "%s back in service".formatted(gpus.size() == 1 ? gpus.get(0) + " is" : gpus.size() + " GPUs are");
        }
    }

    /** A command to one domain or to all domains. */
    abstract static class OfDomains extends ControlBase {
        private final Kind kind;
        private final String done;

        @Option(
                names = "--domain",
                paramLabel = "D",
                description = {
                    "The domain. 'advisory on' accepts a domain without nodes.",
                    "Default: every domain with nodes."
                })
        private Optional<String> domain = Optional.empty();

        OfDomains(Kind kind, String done) {
            this.kind = kind;
            this.done = done;
        }

        Kind kind() {
            return kind;
        }

        /** The domain that is named; empty for all. */
        Optional<String> domain() {
            return domain;
        }

        @Override
        String done() {
            return done;
        }

        @Override
        void checkNames() {
            domain.ifPresent(name -> UserError.checkedName("--domain", name));
        }

        @Override
        List<ControlCommand> commands(TopicScan reading, Instant now) {
            SortedSet<DomainId> known = new TreeSet<>();
            reading.values(TopicCatalogue.NODES, node -> known.add(node.domain()));
            Optional<DomainId> chosen = domain.map(DomainId::new);
            if (kind() == Kind.ADVISORY_ON
                    && chosen.filter(name -> !known.contains(name)).isPresent()) {
                // Advisory mode should be on before the first decision.
                return List.of(command(chosen.get(), now, kind(), Optional.empty(), List.of()));
            }
            if (known.isEmpty()) {
                throw UserError.failed("there is no domain: no node is registered. Start 'lendstream agent'.");
            }
            if (domain.isPresent() && !known.contains(new DomainId(domain.get()))) {
                throw UserError.failed("--domain is '%s', but no node belongs to it. Domains with nodes: %s."
                        .formatted(domain.get(), known));
            }
            return known.stream()
                    .filter(name -> chosen.isEmpty() || chosen.get().equals(name))
                    .map(name -> command(name, now, kind(), Optional.empty(), List.of()))
                    .toList();
        }
    }
}
