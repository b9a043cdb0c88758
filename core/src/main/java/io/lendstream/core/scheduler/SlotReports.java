package io.lendstream.core.scheduler;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.SlotClass;
import io.lendstream.core.state.SlotKnowledge;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Applies reports of actuators whose driver does not choose units. A name in such a report stands for a unit of its
 * node, kind, pool and profile: it may be that of a decision before the last exchange, and the tenant may be on another
 * unit.
 */
record SlotReports(StepBuilder builder, InventoryApplier inventory, ReportApplier byName) {
    /** Whether a report may be about slots. Without slots this takes constant time. */
    static boolean mayBeAbout(StepBuilder builder, ActuationReport report) {
        return !report.placements().isEmpty() || builder.entities().scopes().hasSlots();
    }

    void take(ActuationReport report) {
        if (report.outcome() == Outcome.HOLDS && isOfSlots(report)) {
            report.tenant().ifPresent(tenant -> new SlotCounts(builder, inventory).compare(report, tenant));
            return;
        }
        for (GpuId id : report.gpus()) {
            builder.gpus().get(id).ifPresent(gpu -> take(report, gpu));
        }
    }

    /** Whether the driver of the reporting actuator does not choose units. */
    private boolean isOfSlots(ActuationReport report) {
        return !report.placements().isEmpty()
                || builder.entities()
                        .actuators()
                        .get(report.actuator())
                        .filter(SlotReports::choosesNoUnits)
                        .isPresent();
    }

    private static boolean choosesNoUnits(ActuatorDescription actuator) {
        return !actuator.abilities().choosesUnits();
    }

    private void take(ActuationReport report, GpuState named) {
        Optional<Tenant> tenant = report.tenant();
        if (tenant.isEmpty() || !isSlot(report, named)) {
            byName.take(report, named);
            return;
        }
        switch (report.outcome()) {
            case BOUND -> once(report, named, false, () -> bound(report, named, tenant.get()));
            case RELEASED, FORCED -> once(report, named, true, () -> released(report, named, tenant.get()));
            case FAILED ->
                byName.failed(
                        report,
                        expecting(named, tenant.get(), unit -> expectsBind(report, unit))
                                .orElse(named));
            default -> byName.take(report, named);
        }
    }

    /** The same report may come twice, and must not count for another unit like the named one. */
    private void once(ActuationReport report, GpuState named, boolean isEnd, Runnable news) {
        if (!named.isTold(report.decision(), isEnd)) {
            news.run();
            builder.put(builder.gpu(named.gpuId()).toldSlot(report.decision(), isEnd));
        }
    }

    private boolean isSlot(ActuationReport report, GpuState named) {
        return named.slot().isPresent()
                || builder.entities().scopes().namesSlots(named.nodeId())
                || report.placement(named.gpuId()).isPresent();
    }

    /** The named unit if it expects a report, else the first unit of its class, by name, of the tenant that does. */
    private Optional<GpuState> expecting(GpuState named, Tenant tenant, Predicate<GpuState> expects) {
        if (named.isHeldBy(tenant) && expects.test(named)) {
            return Optional.of(named);
        }
        SlotClass like = SlotClass.of(named);
        for (GpuState unit : new UnitsByNode(builder).on(named.nodeId())) {
            if (unit.isHeldBy(tenant) && expects.test(unit) && like.has(unit)) {
                return Optional.of(unit);
            }
        }
        return Optional.empty();
    }

    private static boolean expectsBind(ActuationReport report, GpuState unit) {
        return unit.owner()
                .asBinding()
                .filter(binding -> ReportApplier.isAbout(report, binding))
                .isPresent();
    }

    private static boolean expectsRelease(ActuationReport report, GpuState unit) {
        return unit.owner()
                        .asReleasing()
                        .filter(open -> report.decision().compareTo(open.decision()) >= 0)
                        .isPresent()
                || unit.owner()
                        .asLent()
                        .filter(lent -> lent.decision().equals(report.decision()))
                        .isPresent();
    }

    private void bound(ActuationReport report, GpuState named, Tenant tenant) {
        Optional<UnitPlacement> placement = report.placement(named.gpuId());
        Optional<String> user = placement.flatMap(UnitPlacement::user);
        Optional<GpuState> found = placement.flatMap(UnitPlacement::unit).flatMap(builder.gpus()::get);
        if (isRepeated(found.orElse(named), found.isPresent(), tenant)) {
            return;
        }
        Predicate<GpuState> expects = unit -> expectsBind(report, unit) && !hasJustArrived(unit);
        Optional<GpuState> binding =
                found.filter(unit -> unit.isHeldBy(tenant)).filter(expects).or(() -> expecting(named, tenant, expects));
        if (binding.isEmpty()) {
            byName.bound(report, found.orElse(named));
        } else if (found.isEmpty()) {
            Optional<SlotKnowledge> place = placement.map(any -> SlotKnowledge.slot(user));
            bind(report, binding.get(), place);
        } else if (found.get().gpuId().equals(binding.get().gpuId())) {
            bind(report, binding.get(), Optional.of(SlotKnowledge.named(user)));
        } else {
            boundElsewhere(report, binding.get(), found.get(), user);
        }
    }

    /**
     * Whether a part of a replica that serves is reported as bound once more. That says nothing about the parts of
     * others that are still to be bound.
     *
     * @param isSeen whether the report names the unit on which the tenant is
     */
    private boolean isRepeated(GpuState unit, boolean isSeen, Tenant tenant) {
        return unit.part().isPresent()
                && unit.changedBy() != builder.eventSequence()
                && unit.isHeldBy(tenant)
                && unit.owner().isUp()
                && !(isSeen && unit.isSlot());
    }

    /** Whether a unit is a part of a replica that this report has named as bound: it names each part once. */
    private boolean hasJustArrived(GpuState unit) {
        return unit.changedBy() == builder.eventSequence()
                && unit.part().filter(GroupPart::here).isPresent();
    }

    private void bind(ActuationReport report, GpuState unit, Optional<SlotKnowledge> place) {
        byName.bound(report, unit);
        builder.put(builder.gpu(unit.gpuId()).placed(place));
    }

    /**
     * A tenant was started on another unit than on the one that is binding. If that cannot be exchanged, the tenant has
     * some unit of the class. A unit on which two tenants were seen, or one of another class, is put out of service.
     */
    private void boundElsewhere(ActuationReport report, GpuState binding, GpuState found, Optional<String> user) {
        UnitExchange exchange = new UnitExchange(builder);
        Tenant tenant = report.tenant().orElseThrow();
        boolean isAlike = UnitExchange.isOfOneClass(binding, found);
        if (isAlike && found.isHeldBy(tenant)) {
            Optional<SlotKnowledge> before =
                    found.isSlot() && found.owner().isUp() ? found.slot() : Optional.of(SlotKnowledge.slot(user));
            if (found.isSlot() && found.owner().isUp()) {
                builder.describe(found.placed(Optional.of(SlotKnowledge.named(user))));
            }
            bind(report, binding, before);
        } else if (exchange.isAllowed(binding, found, report.at())) {
            exchange.exchange(binding.gpuId(), found.gpuId());
            bind(report, builder.gpu(found.gpuId()), Optional.of(SlotKnowledge.named(user)));
        } else if (isAlike && !(found.owner().isUp() && !found.isSlot())) {
            bind(report, binding, Optional.of(SlotKnowledge.slot(user)));
        } else if (!found.isHeldBy(tenant)) {
            inventory.quarantine(
                    found,
                    "actuator %s finds %s running on it, where %s was decided; stop what should not run there, then reset it"
                            .formatted(report.actuator(), tenant, holder(found)));
        }
    }

    static String holder(GpuState unit) {
        return unit.owner().holder().map(Tenant::toString).orElse("nothing");
    }

    private void released(ActuationReport report, GpuState named, Tenant tenant) {
        Optional<UnitPlacement> placement = report.placement(named.gpuId());
        Optional<GpuState> seen = placement
                .flatMap(UnitPlacement::unit)
                .flatMap(builder.gpus()::get)
                .or(() -> placement.flatMap(UnitPlacement::user).flatMap(user -> shownAs(user, named, tenant)));
        GpuState found = seen.orElse(named);
        boolean isElsewhere = !found.gpuId().equals(named.gpuId());
        Predicate<GpuState> expects = unit -> expectsRelease(report, unit);
        if (isElsewhere && found.isHeldBy(tenant) && found.owner().isUp() && !expects.test(found)) {
            boolean isItsUser = found.user().isPresent()
                    && placement.flatMap(UnitPlacement::user).equals(found.user());
            boolean isNews = isItsUser || report.at().isAfter(found.since());
            leftElsewhere(report, found, expecting(named, tenant, expects), isNews);
            return;
        }
        if (isElsewhere && isPartThatLeaves(found, tenant) && !expects.test(found)) {
            Optional<GpuState> kept = expecting(named, tenant, expects)
                    .filter(unit -> unit.owner().isReleasing() && !UnitExchange.isOfOneClass(unit, found));
            if (kept.isPresent()) {
                inventory.left(found);
                keep(report, kept.get(), found);
                return;
            }
        }
        Optional<GpuState> leaving = expecting(found, tenant, expects);
        if (leaving.isPresent() && seen.isEmpty() && mayStay(leaving.get(), placement)) {
            stays(report, leaving.get(), tenant);
        } else if (leaving.isPresent()) {
            byName.released(report, leaving.get());
        } else if (!isElsewhere) {
            byName.released(report, named);
        } else {
            expecting(found, tenant, unit -> unit.isSlot() && unit.owner().isUp())
                    .ifPresent(unit -> byName.released(report, unit));
        }
        if (placement.isPresent() && seen.isEmpty()) {
            new UnitExchange(builder).forgetPlaces(tenant, SlotClass.of(named));
        }
    }

    /**
     * Whether the tenant of a unit that was to leave may run there still: another user of it has gone, which may have
     * been on a unit that was put out of service meanwhile.
     */
    private boolean mayStay(GpuState leaving, Optional<UnitPlacement> placement) {
        boolean isAnother = placement
                .flatMap(UnitPlacement::user)
                .filter(user -> !user.equals(leaving.user().orElse(user)))
                .isPresent();
        return isAnother && hasOutOfService(SlotClass.of(leaving));
    }

    private void stays(ActuationReport report, GpuState unit, Tenant tenant) {
        inventory.quarantine(
                unit,
                "actuator %s reports that another process of %s has ended on node %s, so that the one on this GPU may still run; stop it if so, then reset the GPU"
                        .formatted(report.actuator(), tenant, unit.nodeId()));
    }

    private boolean hasOutOfService(SlotClass like) {
        for (GpuState unit : new UnitsByNode(builder).on(like.node())) {
            if (unit.owner().isQuarantined() && !unit.owner().isForeign() && like.has(unit)) {
                return true;
            }
        }
        return false;
    }

    /** Whether what is left of a replica that has lost a part is to leave a unit, by a decision since. */
    private static boolean isPartThatLeaves(GpuState unit, Tenant tenant) {
        return unit.part().isPresent() && unit.isHeldBy(tenant) && unit.owner().isReleasing();
    }

    /** The unit of a tenant, like the named one, whose user is known to be this one; one that it is leaving, if any. */
    private Optional<GpuState> shownAs(String user, GpuState named, Tenant tenant) {
        Predicate<GpuState> isShown = unit -> unit.user().filter(user::equals).isPresent();
        return expecting(named, tenant, isShown.and(unit -> unit.owner().isReleasing()))
                .or(() -> expecting(named, tenant, isShown));
    }

    /**
     * A controller stopped another unit of the tenant than the one that it was to leave. What is gone is free. Within
     * one class the two units change places. Elsewhere the tenant keeps the other one until it is taken back again.
     *
     * @param isNews whether the report is about the tenant that the unit has now, and not about one before it
     */
    private void leftElsewhere(ActuationReport report, GpuState gone, Optional<GpuState> asked, boolean isNews) {
        Optional<GpuState> kept = asked.filter(unit -> unit.owner().isReleasing());
        if (kept.isPresent() && UnitExchange.isOfOneClass(kept.get(), gone)) {
            GpuState stays = kept.get();
            if (isNews) {
                new UnitExchange(builder).exchange(stays.gpuId(), gone.gpuId());
                placeOf(stays);
            }
            byName.released(report, builder.gpu(isNews ? gone.gpuId() : stays.gpuId()));
            if (isNews) {
                awaitIfNotUp(stays);
            }
        } else if (isNews) {
            byName.released(report, gone);
            kept.ifPresent(unit -> keep(report, unit, gone));
        }
    }

    /** What runs on a unit that its tenant did not leave may be a replica that still starts. */
    private void awaitIfNotUp(GpuState kept) {
        if (!ReplicaRestarts.wasBound(kept)) {
            DecisionId release = kept.owner().asReleasing().orElseThrow().decision();
            new ReplicaRestarts(builder, byName.settings()).await(builder.gpu(kept.gpuId()), release);
        }
    }

    /** Where the tenant of a unit is that it did not leave: as before, or, if it was not yet there, not known. */
    private void placeOf(GpuState unit) {
        Optional<SlotKnowledge> place = unit.slot().or(() -> Optional.of(SlotKnowledge.slot(Optional.empty())));
        builder.describe(builder.gpu(unit.gpuId()).placed(place));
    }

    private void keep(ActuationReport report, GpuState kept, GpuState gone) {
        Owner.Releasing open = kept.owner().asReleasing().orElseThrow();
        builder.own(kept.gpuId(), keptBy(open, kept.pool()));
        builder.put(builder.gpu(kept.gpuId()).boundBy(kept.boundBy().orElse(report.actuator())));
        placeOf(kept);
        awaitIfNotUp(kept);
        new UnitExchange(builder).rename(open.tenant(), gone.gpuId(), kept.gpuId());
    }

    /** What a unit is that its tenant did not leave. It has no lease of its own any more. */
    private static Owner keptBy(Owner.Releasing open, Pool pool) {
        return open.tenant()
                .match(Tenant.Cases.of(
                        job -> pool == Pool.INFERENCE
                                ? new Owner.Lent(job.job(), open.decision(), open.by())
                                : new Owner.Training(job.job()),
                        service -> new Owner.Serving(service.service())));
    }
}
