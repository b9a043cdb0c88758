package io.lendstream.core.scheduler;

import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The settings that decisions depend on, besides events and the policy.
 *
 * @param lending whether inference GPUs may be lent at all
 * @param afe whether elastic jobs are changed in place
 * @param notice time a job gets to give GPUs up before the actuator forces it
 * @param bindDeadline time an actuator gets to bind a GPU to a job
 * @param lease how long a loan runs until it is renewed
 * @param nodeStaleAfter silence after which a node's telemetry is stale
 * @param changeLimits how much plans may change, how fast, and when
 * @param repartition whether the cuts of GPUs in MIG mode follow the needs of services
 * @param repartitionEvery how often their cuts are planned while those in force suffice
 * @param planPhase how long after the multiples of a policy's {@link Policy#planEvery} training is planned, so that the
 *     domains of one process do not all plan at once
 * @param model what the scheduler tells apart in a cluster
 * @param measurements how the scheduler reckons with what it measures
 */
public record SchedulerSettings(
        boolean lending,
        boolean afe,
        Duration notice,
        Duration bindDeadline,
        Duration lease,
        Duration nodeStaleAfter,
        ChangeLimits changeLimits,
        boolean repartition,
        Duration repartitionEvery,
        Duration planPhase,
        ClusterModel model,
        MeasurementRules measurements) {
    public static final SchedulerSettings DEFAULTS = new SchedulerSettings(
            true,
            true,
            Duration.ofSeconds(45),
            Duration.ofSeconds(60),
            Duration.ofMinutes(10),
            Duration.ofSeconds(60),
            ChangeLimits.DEFAULTS,
            false,
            Duration.ofMinutes(5),
            Duration.ZERO,
            ClusterModel.ALIKE,
            MeasurementRules.OFF);

    public SchedulerSettings {
        atLeastOneSecond("notice", notice);
        atLeastOneSecond("bind-deadline", bindDeadline);
        atLeastOneSecond("node-stale-after", nodeStaleAfter);
        atLeastOneSecond("repartition-every", repartitionEvery);
        if (planPhase.isNegative()) {
            throw new IllegalArgumentException("plan-phase must not be negative, but was " + planPhase);
        }
        if (lease.compareTo(notice.multipliedBy(4)) < 0) {
            throw new IllegalArgumentException(
                    ("scheduler.lease is %ds, but must be at least 4 x scheduler.notice, which is %ds, so that a loan"
                                    + " can be renewed or taken back in time. Make the lease longer or the notice shorter.")
                            .formatted(lease.toSeconds(), notice.toSeconds()));
        }
    }

    public SchedulerSettings withLending(boolean on) {
        return new SchedulerSettings(
                on,
                afe,
                notice,
                bindDeadline,
                lease,
                nodeStaleAfter,
                changeLimits,
                repartition,
                repartitionEvery,
                planPhase,
                model,
                measurements);
    }

    public SchedulerSettings withAfe(boolean on) {
        return new SchedulerSettings(
                lending,
                on,
                notice,
                bindDeadline,
                lease,
                nodeStaleAfter,
                changeLimits,
                repartition,
                repartitionEvery,
                planPhase,
                model,
                measurements);
    }

    public SchedulerSettings withChangeLimits(ChangeLimits other) {
        return new SchedulerSettings(
                lending,
                afe,
                notice,
                bindDeadline,
                lease,
                nodeStaleAfter,
                other,
                repartition,
                repartitionEvery,
                planPhase,
                model,
                measurements);
    }

    /** With or without the order of requests that wait before expected ones. */
    public SchedulerSettings withWaitingFirst(boolean on) {
        return withChangeLimits(changeLimits.with(changeLimits.slo().withWaitingFirst(on)));
    }

    public SchedulerSettings withRepartition(boolean on) {
        return new SchedulerSettings(
                lending,
                afe,
                notice,
                bindDeadline,
                lease,
                nodeStaleAfter,
                changeLimits,
                on,
                repartitionEvery,
                planPhase,
                model,
                measurements);
    }

    /** With plans so long after the multiples of a period; not negative. */
    public SchedulerSettings withPlanPhase(Duration phase) {
        return new SchedulerSettings(
                lending,
                afe,
                notice,
                bindDeadline,
                lease,
                nodeStaleAfter,
                changeLimits,
                repartition,
                repartitionEvery,
                phase,
                model,
                measurements);
    }

    public SchedulerSettings withModel(ClusterModel other) {
        return new SchedulerSettings(
                lending,
                afe,
                notice,
                bindDeadline,
                lease,
                nodeStaleAfter,
                changeLimits,
                repartition,
                repartitionEvery,
                planPhase,
                other,
                measurements);
    }

    public SchedulerSettings withMeasurements(MeasurementRules other) {
        return new SchedulerSettings(
                lending,
                afe,
                notice,
                bindDeadline,
                lease,
                nodeStaleAfter,
                changeLimits,
                repartition,
                repartitionEvery,
                planPhase,
                model,
                other);
    }

    public SchedulerSettings withLearn(boolean on) {
        return withMeasurements(measurements.withLearn(on));
    }

    /** Whether measured start-up times and fits of earlier jobs count instead of declarations. */
    public boolean learn() {
        return measurements.learn();
    }

    /** A service with the start-up times to reckon with: the measured ones if they are learned, else as declared. */
    InferenceService timed(ServiceState service) {
        return learn() ? service.timed() : service.spec();
    }

    /** The settings by configuration key, as the log of a domain carries them. */
    public Map<String, String> toMap() {
        Map<String, String> map = new TreeMap<>();
        map.put("lending", Boolean.toString(lending));
        map.put("afe", Boolean.toString(afe));
        map.put("notice", notice.toString());
        map.put("bind-deadline", bindDeadline.toString());
        map.put("lease", lease.toString());
        map.put("node-stale-after", nodeStaleAfter.toString());
        map.put("max-share-lent", Double.toString(changeLimits.maxShareLent()));
        map.put("max-loans-per-minute", Integer.toString(changeLimits.maxLoansPerMinute()));
        map.put("max-transfers", Integer.toString(changeLimits.maxTransfers()));
        map.put("min-hold", changeLimits.minHold().toString());
        map.put("quiet-windows", changeLimits.quietWindows().toString());
        changeLimits.trust().putInto(map);
        changeLimits.slo().putInto(map);
        map.put("repartition", Boolean.toString(repartition));
        map.put("repartition-every", repartitionEvery.toString());
        if (!planPhase.isZero()) {
            map.put("plan-phase", planPhase.toString());
        }
        if (model.kinds()) {
            map.put("kinds", "true");
        }
        if (!model.gpuKinds().aliases().isEmpty()) {
            map.put("kind-aliases", model.gpuKinds().toString());
        }
        model.topology().nvlinkDomain().ifPresent(label -> map.put("topology.nvlink-domain", label));
        model.topology().rack().ifPresent(label -> map.put("topology.rack", label));
        model.users().putInto(map);
        measurements.putInto(map);
        return map;
    }

    /** The settings that a domain may declare, with their values, also where {@link #toMap()} leaves them out. */
    public Map<String, String> declarable() {
        Map<String, String> map = toMap();
        TrustRules trust = changeLimits.trust();
        map.put("trust-share", Double.toString(trust.share()));
        map.put("trust-step-after", trust.stepAfter().toString());
        map.put("slo-extra", Double.toString(changeLimits.slo().extra()));
        map.put("slo-withhold", changeLimits.slo().withhold().toString());
        map.put("waiting-first", Boolean.toString(changeLimits.slo().waitingFirst()));
        map.put("foreign-gone-after", model.users().goneAfter().toString());
        map.put("quarantine-evidence", model.users().evidenceAfter().toString());
        measurements.putDeclarableInto(map);
        map.keySet().retainAll(DeclarableSettings.forms().keySet());
        return map;
    }

    /** Every key that {@link #toMap()} may write; a log of a newer version may have more. */
    public static Set<String> keys() {
        Set<String> keys = new TreeSet<>(DEFAULTS.toMap().keySet());
        keys.addAll(TrustRules.keys());
        keys.addAll(List.of(
                "plan-phase",
                "kinds",
                "kind-aliases",
                "topology.nvlink-domain",
                "topology.rack",
                "heed-users",
                "foreign-gone-after",
                "quarantine-evidence",
                "heed-intruders",
                "remember-users",
                "strict-users"));
        keys.addAll(SloRules.keys());
        keys.addAll(MeasurementRules.keys());
        return keys;
    }

    /** Reads what {@link #toMap()} wrote; keys that are not there have their defaults. */
    public static SchedulerSettings of(Map<String, String> map) {
        Map<String, String> all = new TreeMap<>(DEFAULTS.toMap());
        all.putAll(map);
        return new SchedulerSettings(
                Boolean.parseBoolean(all.get("lending")),
                Boolean.parseBoolean(all.get("afe")),
                Duration.parse(all.get("notice")),
                Duration.parse(all.get("bind-deadline")),
                Duration.parse(all.get("lease")),
                Duration.parse(all.get("node-stale-after")),
                new ChangeLimits(
                        Double.parseDouble(all.get("max-share-lent")),
                        Integer.parseInt(all.get("max-loans-per-minute")),
                        Integer.parseInt(all.get("max-transfers")),
                        Duration.parse(all.get("min-hold")),
                        QuietWindows.parse(all.getOrDefault("quiet-windows", "")),
                        TrustRules.of(all),
                        SloRules.of(all)),
                Boolean.parseBoolean(all.get("repartition")),
                Duration.parse(all.get("repartition-every")),
                Duration.parse(all.getOrDefault("plan-phase", "PT0S")),
                new ClusterModel(
                        Boolean.parseBoolean(all.getOrDefault("kinds", "false")),
                        GpuKinds.parse(all.getOrDefault("kind-aliases", "")),
                        TopologyLabels.of(
                                all.getOrDefault("topology.nvlink-domain", ""), all.getOrDefault("topology.rack", "")),
                        new UserRules(
                                Boolean.parseBoolean(all.getOrDefault("heed-users", "false")),
                                Duration.parse(all.getOrDefault(
                                        "foreign-gone-after",
                                        UserRules.SHOWN.goneAfter().toString())),
                                Duration.parse(all.getOrDefault("quarantine-evidence", "PT0S")),
                                Boolean.parseBoolean(all.getOrDefault("heed-intruders", "false")),
                                Boolean.parseBoolean(all.getOrDefault("remember-users", "false")),
                                Boolean.parseBoolean(all.getOrDefault("strict-users", "false")))),
                MeasurementRules.of(all));
    }

    private static void atLeastOneSecond(String key, Duration value) {
        if (value.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException("scheduler.%s must be at least 1s, but was %s".formatted(key, value));
        }
    }
}
