package io.lendstream.scheduler;

import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ChangeLimits;
import io.lendstream.core.scheduler.ClusterModel;
import io.lendstream.core.scheduler.HeldSamples;
import io.lendstream.core.scheduler.MeasurementRules;
import io.lendstream.core.scheduler.QuietWindows;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.SloRules;
import io.lendstream.core.scheduler.TrustRules;
import io.lendstream.core.scheduler.UserRules;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** The scheduler's own settings. */
public final class SchedulerKeys {
    /** Where forecasts come from. */
    enum Forecaster {
        FLINK,
        NONE
    }

    /** The levels of trust at which a domain may begin. */
    enum FirstTrust {
        OBSERVE(TrustLevel.OBSERVE),
        ADVISE(TrustLevel.ADVISE),
        SHARE(TrustLevel.SHARE),
        ALL(TrustLevel.ALL);

        private final TrustLevel level;

        FirstTrust(TrustLevel level) {
            this.level = level;
        }
    }

    private static final SchedulerSettings DEFAULTS = SchedulerSettings.DEFAULTS;

    static final Key<String> POLICY = Key.word(
            "scheduler.policy",
            "deepboot",
            "Policy, as name:key=value; see 'lendstream policies' and docs/policies.md.");
    static final Key<Boolean> LENDING =
            Key.flag("scheduler.lending", DEFAULTS.lending(), "Lend idle inference GPUs to training.");
    static final Key<Boolean> AFE = Key.flag(
            "scheduler.afe",
            DEFAULTS.afe(),
            "Elastic jobs change GPUs in place; if false, every change restarts the job.");
    static final Key<Duration> NOTICE = Key.period(
            "scheduler.notice",
            text(DEFAULTS.notice()),
            "Notice: time of a job to release GPUs before they are taken by force.");
    static final Key<Duration> BIND_DEADLINE = Key.period(
            "scheduler.bind-deadline",
            text(DEFAULTS.bindDeadline()),
            "Deadline for an actuator to bind a GPU to a job.");
    static final Key<Duration> LEASE =
            Key.period("scheduler.lease", text(DEFAULTS.lease()), "Duration of a lease, unless it is renewed.");
    static final Key<Duration> NODE_STALE_AFTER = Key.period(
            "scheduler.node-stale-after",
            text(DEFAULTS.nodeStaleAfter()),
            "Silence after which a node's telemetry is stale.");
    static final Key<Double> MAX_SHARE_LENT = Key.fraction(
            "scheduler.max-share-lent",
            DEFAULTS.changeLimits().maxShareLent(),
            "Largest lent share of inference GPUs, rounded down. Idle GPUs beyond it are reserve.");
    static final Key<Integer> MAX_LOANS_PER_MINUTE =
            Key.count("scheduler.max-loans-per-minute", 0, Integer.MAX_VALUE, 50, "Most GPUs newly lent in a minute.");
    static final Key<Integer> MAX_TRANSFERS = Key.count(
            "scheduler.max-transfers",
            1,
            Integer.MAX_VALUE,
            100,
            "Most GPUs in transfer to or from training before a plan adds more. Halved while a service misses its SLO. A job that gains more at once waits.");
    static final Key<Duration> MIN_HOLD = Key.duration(
            "scheduler.min-hold",
            "30s",
            "Time for which plans leave a changed job alone. Reclaims for inference do not wait.");
    static final Key<String> QUIET_WINDOWS = Key.text(
            "scheduler.quiet-windows",
            "",
            "Times of the week (UTC) without plans: 08:00-10:00, or mon-fri 17:30-18:30, between commas. Inference still gets its GPUs.");
    static final Key<FirstTrust> FIRST_TRUST = Key.choice(
            "scheduler.first-trust",
            FirstTrust.ADVISE,
            "Level of trust at the first start of a domain; later starts do not change it. With advise, decisions are only advice until 'lendstream trust' raises the level; see docs/operations.md.");
    static final Key<Double> TRUST_SHARE = Key.fraction(
            "scheduler.trust-share",
            DEFAULTS.changeLimits().trust().share(),
            "Largest lent share of inference GPUs at the level of trust 'share'.");
    static final Key<Duration> TRUST_STEP_AFTER = Key.duration(
            "scheduler.trust-step-after",
            "3d",
            "Time at a level of trust without a late reclaim, after which the level may be raised.");
    static final Key<Double> SLO_EXTRA = Key.decimal(
            "scheduler.slo-extra",
            0,
            10,
            0.5,
            "Most replicas that a service gets beyond its load while it misses its SLO with those for its load, as a share of them; one is always allowed. 0: missed SLOs have no effect, also not on loans.");
    static final Key<Duration> SLO_WITHHOLD = Key.duration(
            "scheduler.slo-withhold",
            "10m",
            "A service missed its SLO in three windows in a row: for this time after that, the GPUs that it left are not lent.");
    static final Key<Boolean> WAITING_FIRST = Key.flag(
            "scheduler.waiting-first",
            true,
            "With a policy that uses forecasts: requests that wait come before expected ones. A service gives up replicas that its present load does not need; see docs/policies.md.");
    static final Key<Boolean> REPARTITION = Key.flag(
            "scheduler.repartition",
            DEFAULTS.repartition(),
            "Repartition inference GPUs in MIG mode, or switchable to it, for services with learned latency; see docs/elasticbatch.md.");
    static final Key<Duration> REPARTITION_EVERY = Key.period(
            "scheduler.repartition-every",
            text(DEFAULTS.repartitionEvery()),
            "Interval of new partition plans while the present one suffices.");
    static final Key<Boolean> KINDS = Key.flag(
            "scheduler.kinds",
            true,
            "Tell kinds of GPUs apart, by product name and memory. A job then uses one kind at a time; see docs/policies.md.");
    static final Key<String> KIND_ALIASES = Key.text(
            "scheduler.kind-aliases",
            "",
            "Kinds that count as another one: KIND=KIND, between commas, such as A100-PCIE-80GB=A100-SXM4-80GB.");
    static final Key<String> NVLINK_DOMAIN = Key.text(
            "scheduler.topology.nvlink-domain",
            "",
            "The label of nodes that names their NVLink domain, such as nvidia.com/gpu.clique. Empty: each node is one. Agents send the label if agent.labels has it.");
    static final Key<String> RACK = Key.text(
            "scheduler.topology.rack",
            "",
            "The label of nodes that names their rack. Empty: each node is one. Agents send the label if agent.labels has it.");
    static final Key<Boolean> HEED_USERS = Key.flag(
            "scheduler.heed-users",
            true,
            "Leave GPUs alone that agents report as used by others: they are foreign, and no job or replica gets them. A new GPU is foreign until an agent reports it as unused; see docs/operations.md.");
    static final Key<Duration> FOREIGN_GONE_AFTER = Key.period(
            "scheduler.foreign-gone-after",
            text(DEFAULTS.model().users().goneAfter()),
            "With heed-users: time for which agents have to report a foreign GPU as unused until it is free.");
    static final Key<Duration> QUARANTINE_EVIDENCE = Key.duration(
            "scheduler.quarantine-evidence",
            "10m",
            "With heed-users: time for which agent and actuator have to report that nothing runs on a quarantined GPU until it is free. 0s: only a reset frees it.");
    static final Key<Boolean> HEED_INTRUDERS = Key.flag(
            "scheduler.heed-intruders",
            true,
            "With heed-users: show who else uses a GPU of a job or replica, if agents can tell them apart, and make the GPU foreign if they stay when it is released; see docs/operations.md.");
    static final Key<Boolean> LEARN = Key.flag(
            "scheduler.learn",
            true,
            "Reckon with start-up times that actuators measured instead of declared ones, and give jobs without a profile that of earlier jobs of their application; see docs/declarations.md.");
    static final Key<Duration> REMEMBER_PROFILES = Key.duration(
            "scheduler.remember-profiles",
            "90d",
            "With learn: time without use for which profiles of an application are kept after its ended jobs are forgotten, of at most 1,000 applications of a domain; at most 366d. 0s: no longer than the jobs.");
    static final Key<Boolean> SUM_SHORT_WINDOWS = Key.flag(
            "scheduler.sum-short-windows",
            true,
            "Sum up windows of request rates shorter than 5s until they cover 5s, and give a rate then. If false, the rate of their source stays as it was.");
    static final Key<String> APPLICATION_ID = Key.text(
            "scheduler.application-id",
            "",
            "Common name of the scheduler's instances and prefix of its internal topics; empty for the topic prefix and 'scheduler'.");
    static final Key<Forecaster> FORECASTER = Key.choice(
            "scheduler.forecaster",
            Forecaster.FLINK,
            "Source of forecasts. With none, an accelerated run does not wait for forecasts.");
    static final Key<Duration> FORECAST_STEP = Key.period(
            "scheduler.forecast-step",
            "60s",
            "In accelerated runs: length of a forecast step until the first forecast of a service.");
    static final Key<Duration> FORECAST_PATIENCE = Key.duration(
            "scheduler.forecast-patience",
            "30s",
            "In accelerated runs: wall-clock wait for a forecast before the run continues without it.");
    /** The limits of a domain by default. */
    static final DomainLimits DEFAULT_LIMITS = new DomainLimits(1_000, 10_000, 1_024, 5_000, 50_000, 1_000, 1_000);

    static final int DEFAULT_LABELLED_DOMAINS = 100;

    static final Key<Integer> MAX_DOMAINS = limit(
            "scheduler.max-domains",
            DEFAULT_LIMITS.domains(),
            "Most domains of one input partition. Records of a further domain are refused; existing domains stay.");
    static final Key<Integer> MAX_NODES = limit(
            "scheduler.max-nodes",
            DEFAULT_LIMITS.nodes(),
            "Most nodes of a domain. A further node is refused; a tombstone frees a place.");
    static final Key<Integer> MAX_GPUS_PER_NODE = limit(
            "scheduler.max-gpus-per-node",
            DEFAULT_LIMITS.gpusPerNode(),
            "Most GPUs of a node; ten times as many GPUs and MIG instances together. A larger inventory is refused.");
    static final Key<Integer> MAX_SERVICES = limit(
            "scheduler.max-services",
            DEFAULT_LIMITS.services(),
            "Most inference services of a domain. A further service is refused.");
    static final Key<Integer> MAX_JOBS = limit(
            "scheduler.max-jobs",
            DEFAULT_LIMITS.jobs(),
            "Most unfinished training jobs of a domain; ten times as many with those that ended in the last 24 h. A further job is refused; an ended job frees its place.");
    static final Key<Integer> MAX_RATE_SOURCES = limit(
            "scheduler.max-rate-sources",
            DEFAULT_LIMITS.sources(),
            "Most sources of request rates of a service. A further source is refused; ten silent minutes free a place.");
    static final Key<Integer> MAX_QUEUES = limit(
            "scheduler.max-queues", DEFAULT_LIMITS.queues(), "Most queues of a domain. A further queue is refused.");
    static final Key<Integer> MAX_LABELLED_DOMAINS = Key.count(
            "scheduler.max-labelled-domains",
            0,
            Integer.MAX_VALUE,
            DEFAULT_LABELLED_DOMAINS,
            "Most domains in the labels of an instance's metrics. All others are summed as 'other'.");

    /** When snapshots are written by default. */
    static final SnapshotPace DEFAULT_SNAPSHOTS = new SnapshotPace(5_000, Duration.ofMinutes(10));

    static final Key<Integer> SNAPSHOT_EVENTS = Key.count(
            "scheduler.snapshot-events",
            1_000,
            Integer.MAX_VALUE,
            DEFAULT_SNAPSHOTS.events(),
            "Events of a domain after which its state is written as a snapshot, from which 'lendstream explain' replays.");
    static final Key<Duration> SNAPSHOT_EVERY = Key.period(
            "scheduler.snapshot-every",
            text(DEFAULT_SNAPSHOTS.period()),
            "Time of a domain after which its state is written as a snapshot.");

    static final Duration DEFAULT_HOLD = Duration.ofSeconds(20);

    static final Key<Duration> HOLD_SAMPLES = Key.duration(
            "scheduler.hold-samples",
            text(DEFAULT_HOLD),
            "Time for which samples of GPUs that change no owner, need or staleness are held, so that the log has one event for them; 0s: each is an event. At most half of scheduler.node-stale-after, and 30s. Not by virtual time.");

    static final List<Key<?>> ALL = List.of(
            POLICY,
            LENDING,
            AFE,
            NOTICE,
            BIND_DEADLINE,
            LEASE,
            NODE_STALE_AFTER,
            MAX_SHARE_LENT,
            MAX_LOANS_PER_MINUTE,
            MAX_TRANSFERS,
            MIN_HOLD,
            QUIET_WINDOWS,
            FIRST_TRUST,
            TRUST_SHARE,
            TRUST_STEP_AFTER,
            SLO_EXTRA,
            SLO_WITHHOLD,
            WAITING_FIRST,
            REPARTITION,
            REPARTITION_EVERY,
            KINDS,
            KIND_ALIASES,
            NVLINK_DOMAIN,
            RACK,
            HEED_USERS,
            FOREIGN_GONE_AFTER,
            QUARANTINE_EVIDENCE,
            HEED_INTRUDERS,
            LEARN,
            REMEMBER_PROFILES,
            SUM_SHORT_WINDOWS,
            APPLICATION_ID,
            FORECASTER,
            FORECAST_STEP,
            FORECAST_PATIENCE,
            MAX_DOMAINS,
            MAX_NODES,
            MAX_GPUS_PER_NODE,
            MAX_SERVICES,
            MAX_JOBS,
            MAX_RATE_SOURCES,
            MAX_QUEUES,
            MAX_LABELLED_DOMAINS,
            SNAPSHOT_EVENTS,
            SNAPSHOT_EVERY,
            HOLD_SAMPLES);

    private SchedulerKeys() {}

    private static Key<Integer> limit(String name, int otherwise, String description) {
        return Key.count(name, 1, Integer.MAX_VALUE, otherwise, description);
    }

    /** All settings of the scheduler, for the reference page. */
    public static List<Key<?>> all() {
        return ALL;
    }

    static SchedulerOptions options(Settings settings) {
        Scheduler scheduler = scheduler(settings);
        return new SchedulerOptions(
                scheduler,
                settings.get(CommonKeys.TIME),
                settings.get(CommonKeys.MAX_CLOCK_SKEW),
                settings.get(FORECASTER) != Forecaster.NONE,
                settings.get(FORECAST_STEP),
                settings.get(FORECAST_PATIENCE),
                new DomainLimits(
                        settings.get(MAX_DOMAINS),
                        settings.get(MAX_NODES),
                        settings.get(MAX_GPUS_PER_NODE),
                        settings.get(MAX_SERVICES),
                        settings.get(MAX_JOBS),
                        settings.get(MAX_RATE_SOURCES),
                        settings.get(MAX_QUEUES)),
                checked(() -> new SnapshotPace(settings.get(SNAPSHOT_EVENTS), settings.get(SNAPSHOT_EVERY))),
                holdSamples(settings, scheduler.settings()));
    }

    private static <T> T checked(Supplier<T> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
    }

    private static Duration holdSamples(Settings settings, SchedulerSettings ofCore) {
        return checked(() -> {
            HeldSamples.check(settings.get(HOLD_SAMPLES), ofCore);
            return settings.get(HOLD_SAMPLES);
        });
    }

    private static Scheduler scheduler(Settings settings) {
        Policy policy = policy(settings.get(POLICY));
        return checked(() -> new Scheduler(
                policy,
                new SchedulerSettings(
                        settings.get(LENDING),
                        settings.get(AFE),
                        settings.get(NOTICE),
                        settings.get(BIND_DEADLINE),
                        settings.get(LEASE),
                        settings.get(NODE_STALE_AFTER),
                        new ChangeLimits(
                                settings.get(MAX_SHARE_LENT),
                                settings.get(MAX_LOANS_PER_MINUTE),
                                settings.get(MAX_TRANSFERS),
                                settings.get(MIN_HOLD),
                                QuietWindows.parse(settings.get(QUIET_WINDOWS)),
                                new TrustRules(
                                        settings.get(FIRST_TRUST).level,
                                        settings.get(TRUST_SHARE),
                                        settings.get(TRUST_STEP_AFTER)),
                                new SloRules(
                                        settings.get(SLO_EXTRA),
                                        settings.get(SLO_WITHHOLD),
                                        settings.get(WAITING_FIRST))),
                        settings.get(REPARTITION),
                        settings.get(REPARTITION_EVERY),
                        DEFAULTS.planPhase(),
                        new ClusterModel(
                                settings.get(KINDS),
                                GpuKinds.parse(settings.get(KIND_ALIASES)),
                                TopologyLabels.of(settings.get(NVLINK_DOMAIN), settings.get(RACK)),
                                new UserRules(
                                        settings.get(HEED_USERS),
                                        settings.get(FOREIGN_GONE_AFTER),
                                        settings.get(QUARANTINE_EVIDENCE),
                                        settings.get(HEED_INTRUDERS))),
                        new MeasurementRules(
                                settings.get(LEARN),
                                settings.get(REMEMBER_PROFILES),
                                settings.get(SUM_SHORT_WINDOWS)))));
    }

    private static Policy policy(String spec) {
        try {
            return Policies.parse(spec);
        } catch (IllegalArgumentException e) {
            throw new SettingsException(
                    "%s is %s, but %s. Correct it, or leave it out for %s; nothing is lent with %s=false."
                            .formatted(POLICY.name(), spec, e.getMessage(), POLICY.otherwise(), LENDING.name()),
                    e);
        }
    }

    private static String text(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
    }
}
