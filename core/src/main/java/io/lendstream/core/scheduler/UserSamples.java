package io.lendstream.core.scheduler;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Quality;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.TenantUser;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds from samples of agents which units others use, so that these are given to no tenant. Silence is no evidence: a
 * unit is free only once an agent has said for some time, without a gap, that nothing uses it.
 */
record UserSamples(StepBuilder builder, InventoryApplier inventory, UserRules rules) {
    /** A longer silence of an agent is a gap. */
    private static final Duration LONGEST_GAP = Duration.ofSeconds(60);
    /** An agent may show the last tenant of a unit for so long after its release. */
    private static final Duration AGENT_LAG = Duration.ofSeconds(30);
    /** A user that appears so soon after a release may be the tenant, which most drivers do not name. */
    private static final Duration SOON = Duration.ofSeconds(60);
    /** More memory than the driver itself takes on an unused GPU. */
    private static final long IDLE_MEMORY_BYTES = 600L << 20;

    private static final double IDLE_UTILIZATION = 0.02;
    /** A user whom the agent cannot name. */
    private static final String UNNAMED = "a process without a known name";

    /** What a sample says of a unit. */
    private enum Use {
        UNUSED,
        USED,
        UNKNOWN
    }

    /** @param before the node before this sample */
    void take(GpuTelemetry telemetry, NodeState before) {
        boolean isOld = telemetry.at().plus(LONGEST_GAP).isBefore(builder.now());
        Map<GpuId, GpuSample> samples = new HashMap<>();
        for (GpuSample sample : isOld ? List.<GpuSample>of() : telemetry.gpus()) {
            samples.put(sample.gpuId(), sample);
        }
        // An agent's clock may be ahead.
        Instant at = telemetry.at().isBefore(builder.now()) ? telemetry.at() : builder.now();
        List<GpuState> units = new UnitsByNode(builder).on(telemetry.nodeId());
        // While it is open which unit of several a tenant has, the user of another one may be that tenant.
        boolean hasOpenSlots = units.stream().anyMatch(GpuState::isSlot);
        for (GpuState unit : units) {
            Optional<GpuSample> sample = Optional.ofNullable(samples.get(unit.gpuId()));
            if (unit.owner().isForeign()) {
                if (!showsLast(unit, sample, at)) {
                    ofForeign(unit, sample, hasGap(telemetry, before));
                }
            } else if (unit.owner().asVacating().isPresent()) {
                boolean isUnused =
                        sample.filter(known -> use(known) == Use.UNUSED).isPresent();
                new QuarantineEvidence(builder, rules).sampled(unit, isUnused, hasGap(telemetry, before));
            } else if (unit.isFree() && !hasOpenSlots && mayTell(unit, at)) {
                ofFree(unit, sample);
            } else if (unit.owner().holder().isPresent() && !hasOpenSlots && sample.isPresent()) {
                ofTenant(unit, sample.get(), at, units);
                traces().take(builder.gpu(unit.gpuId()), sample.get(), samples);
            }
        }
    }

    private void ofTenant(GpuState unit, GpuSample sample, Instant at, List<GpuState> units) {
        if (rules.noticesIntruders()) {
            boolean mayBegin = at.isAfter(unit.since().plus(AGENT_LAG));
            new IntruderSamples(builder, rules).take(unit, sample, at, mayBegin, units);
        }
    }

    private TenantTraces traces() {
        return new TenantTraces(builder, rules);
    }

    /** Whether a sample of a foreign unit still shows the tenant that has left it just now, beside an intruder. */
    private boolean showsLast(GpuState unit, Optional<GpuSample> sample, Instant at) {
        return rules.noticesIntruders()
                && !mayTell(unit, at)
                && sample.flatMap(GpuSample::usedBy).stream()
                        .flatMap(List::stream)
                        .anyMatch(user -> TenantUser.isTenant(user)
                                || traces().outlived(unit, List.of(user)).isPresent());
    }

    /** Whether a sample counts for a free unit: soon after a release it may still show the tenant that has left. */
    private static boolean mayTell(GpuState unit, Instant at) {
        return !hadTenant(unit) || at.isAfter(unit.since().plus(AGENT_LAG));
    }

    private static boolean hadTenant(GpuState unit) {
        return unit.boundBy().isPresent() || unit.failedBinds() > 0;
    }

    private static boolean hasGap(GpuTelemetry telemetry, NodeState before) {
        return !before.bootId().equals(telemetry.bootId())
                || before.lastSampleAt()
                        .filter(last -> !last.plus(LONGEST_GAP).isBefore(telemetry.at()))
                        .isEmpty();
    }

    private void ofFree(GpuState unit, Optional<GpuSample> sample) {
        if (sample.filter(known -> use(known) == Use.USED).isPresent()) {
            builder.invalidatePlan();
            used(unit, users(sample.get()));
        }
    }

    private void ofForeign(GpuState unit, Optional<GpuSample> sample, boolean hasGap) {
        ForeignUse known = unit.owner().asForeign().orElseThrow();
        switch (sample.map(UserSamples::use).orElse(Use.UNKNOWN)) {
            case USED -> {
                List<String> users = users(sample.orElseThrow());
                if (!known.equals(ForeignUse.by(users))) {
                    used(unit, users);
                }
            }
            case UNUSED -> {
                if (known.users().isEmpty()) {
                    free(builder, unit);
                } else if (known.freeAt().isEmpty() || hasGap) {
                    extend(builder, unit, known.unusedUntil(builder.now().plus(rules.goneAfter())));
                }
            }
            case UNKNOWN -> {
                if (known.freeAt().isPresent()) {
                    extend(builder, unit, ForeignUse.by(known.users()));
                }
            }
        }
    }

    /** Puts a unit out of service while others use it. A tenant of ours there is a release that did not happen. */
    private void used(GpuState unit, List<String> users) {
        Optional<String> own = users.stream()
                .filter(TenantUser::isTenant)
                .findFirst()
                .map(UserSamples::stillRuns)
                .or(() -> traces().outlived(unit, users));
        if (own.isPresent()) {
            inventory.quarantine(unit, own.get());
        } else if (unit.owner().isForeign()) {
            boolean isSuspicious = unit.owner()
                    .asQuarantined()
                    .flatMap(Owner.Quarantined::suspicion)
                    .isPresent();
            builder.extend(unit.gpuId(), foreign(users, isSuspicious));
        } else {
            boolean isSoon =
                    hadTenant(unit) && !builder.now().isAfter(unit.since().plus(SOON));
            builder.own(unit.gpuId(), foreign(users, isSoon));
        }
    }

    /** @param isSuspicious whether they came so soon after a tenant that they may be this tenant */
    private static Owner.Quarantined foreign(List<String> users, boolean isSuspicious) {
        ForeignUse use = ForeignUse.by(users);
        return isSuspicious
                ? new Owner.Quarantined(
                        "%s; it was seen within %d s after the last tenant was released: if it is that tenant, its release did not happen, so stop it"
                                .formatted(use.inWords(), SOON.toSeconds()),
                        Optional.of(use),
                        Optional.empty())
                : new Owner.Quarantined(use);
    }

    /** Why a unit is out of service on which a tenant of ours runs that does not have it any more. */
    static String stillRuns(String tenant) {
        return stillRuns(tenant, "Lendstream placed");
    }

    /**
     * The same for any name of the tenant.
     *
     * @param whose how it is known that it is the tenant, after "which"
     */
    static String stillRuns(String user, String whose) {
        return "%s, which %s, still runs on it: its release did not happen; stop it, then reset the GPU"
                .formatted(user, whose);
    }

    /** Without rules for users no unit is foreign: after a restart without the setting. */
    static void forget(StepBuilder builder) {
        for (GpuState unit : builder.gpus().values()) {
            if (unit.owner().isForeign()) {
                free(builder, unit);
            }
        }
    }

    /**
     * Frees a unit that was unused for long enough, if its agent still sends samples, and no actuator still finds one
     * of its users.
     */
    static void end(StepBuilder builder, UserRules rules, GpuState unit, ForeignUse use) {
        if (!isHeard(builder, unit)) {
            extend(builder, unit, ForeignUse.by(use.users()));
            return;
        }
        new FoundUsers(builder, rules)
                .lasting(unit, use)
                .ifPresentOrElse(still -> extend(builder, unit, still), () -> free(builder, unit));
    }

    /** Whether the agent of a unit still sends samples. */
    static boolean isHeard(StepBuilder builder, GpuState unit) {
        Instant fresh = builder.now().minus(LONGEST_GAP);
        return builder.isReachable(unit)
                && builder.nodes()
                        .get(unit.nodeId())
                        .flatMap(NodeState::lastSampleAt)
                        .filter(last -> !last.isBefore(fresh))
                        .isPresent();
    }

    /** Frees a unit. Its {@code since} stays: no tenant has just left it, so the next sample counts at once. */
    static void free(StepBuilder builder, GpuState unit) {
        builder.invalidatePlan();
        builder.own(unit.gpuId(), new Owner.Free());
        builder.put(builder.gpu(unit.gpuId()).with(new Owner.Free(), unit.since(), builder.eventSequence()));
    }

    private static void extend(StepBuilder builder, GpuState unit, ForeignUse use) {
        builder.extend(unit.gpuId(), new Owner.Quarantined(use));
    }

    private static List<String> users(GpuSample sample) {
        List<String> named = sample.usedBy().orElse(List.of());
        return named.isEmpty() ? List.of(UNNAMED) : named;
    }

    /** Named users count first. If there are none, work and memory show a process that the agent cannot name. */
    private static Use use(GpuSample sample) {
        if (sample.usedBy().filter(users -> !users.isEmpty()).isPresent()) {
            return Use.USED;
        }
        Optional<Long> memory = sample.memory().memoryUsedBytes();
        Optional<Double> utilization = sample.activity()
                .utilization()
                .filter(any -> sample.activity().utilizationQuality() != Quality.UNSUPPORTED);
        if (memory.filter(bytes -> bytes > IDLE_MEMORY_BYTES).isPresent()
                || utilization.filter(share -> share > IDLE_UTILIZATION).isPresent()) {
            return Use.USED;
        }
        boolean areAllNamed = sample.usedBy().isPresent();
        return areAllNamed || (memory.isPresent() && utilization.isPresent()) ? Use.UNUSED : Use.UNKNOWN;
    }
}
