package io.lendstream.scheduler;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ChangeLimits;
import io.lendstream.core.scheduler.QuietWindows;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The scheduler's own settings. */
public final class SchedulerKeys {
    /** Where forecasts come from. */
    enum Forecaster {
        FLINK,
        NONE
    }

    private static final SchedulerSettings DEFAULTS = SchedulerSettings.DEFAULTS;

    static final Key<String> POLICY = Key.word(
            "scheduler.policy",
            "deepboot",
            "The policy and its settings, as name:key=value. 'lendstream policies' lists them.");
    static final Key<Boolean> LENDING =
            Key.flag("scheduler.lending", DEFAULTS.lending(), "Whether to lend idle inference GPUs to training.");
    static final Key<Boolean> AFE = Key.flag(
            "scheduler.afe",
            DEFAULTS.afe(),
            "Whether elastic jobs grow and shrink in place. If false, every change restarts the job.");
    static final Key<Duration> NOTICE = Key.period(
            "scheduler.notice", text(DEFAULTS.notice()), "How long a job has to give GPUs up before they are taken by force.");
    static final Key<Duration> BIND_DEADLINE = Key.period(
            "scheduler.bind-deadline",
            text(DEFAULTS.bindDeadline()),
            "How long an actuator may take to bind a GPU to a job.");
    static final Key<Duration> LEASE =
            Key.period("scheduler.lease", text(DEFAULTS.lease()), "Duration of a loan, unless it is renewed.");
    static final Key<Duration> NODE_STALE_AFTER = Key.period(
            "scheduler.node-stale-after",
            text(DEFAULTS.nodeStaleAfter()),
            "Time without telemetry from a node after which its state is stale.");
    static final Key<Double> MAX_SHARE_LENT = Key.fraction(
            "scheduler.max-share-lent",
            DEFAULTS.changeLimits().maxShareLent(),
            "Largest share of inference GPUs that may be lent at the same time, rounded down to whole GPUs. Idle GPUs beyond it stay in reserve.");
    static final Key<Integer> MAX_LOANS_PER_MINUTE = Key.count(
            "scheduler.max-loans-per-minute",
            0,
            Integer.MAX_VALUE,
            DEFAULTS.changeLimits().maxLoansPerMinute(),
            "Most GPUs newly lent per minute.");
    static final Key<Integer> MAX_TRANSFERS = Key.count(
            "scheduler.max-transfers",
            1,
            Integer.MAX_VALUE,
            DEFAULTS.changeLimits().maxTransfers(),
            "Most GPUs that may be in transfer to or from training before a plan starts more transfers; halved while a service misses its SLO. A job that would gain more at once waits.");
    static final Key<Duration> MIN_HOLD = Key.duration(
            "scheduler.min-hold",
            text(DEFAULTS.changeLimits().minHold()),
            "Cooldown: how long plans leave a job unchanged after a change. Reclaims for inference do not wait for it.");
    static final Key<String> QUIET_WINDOWS = Key.text(
            "scheduler.quiet-windows",
            "",
            "Times of the week, in UTC, without plans, separated by commas: 08:00-10:00, or mon-fri 17:30-18:30. Inference still gets the GPUs it needs.");
    static final Key<Boolean> REPARTITION = Key.flag(
            "scheduler.repartition",
            DEFAULTS.repartition(),
            "Whether to repartition inference GPUs with MIG for services with a known latency. It uses GPUs that are in MIG mode or may be put into it.");
    static final Key<Duration> REPARTITION_EVERY = Key.period(
            "scheduler.repartition-every",
            text(DEFAULTS.repartitionEvery()),
            "How often to plan a new MIG partitioning while the current one is sufficient.");
    static final Key<String> APPLICATION_ID = Key.text(
            "scheduler.application-id",
            "",
            "Application ID, shared by all scheduler instances; its internal topics start with it. Empty: the topic prefix followed by 'scheduler'.");
    static final Key<Forecaster> FORECASTER = Key.choice(
            "scheduler.forecaster",
            Forecaster.FLINK,
            "Where forecasts come from. With none, an accelerated run does not wait for forecasts.");
    static final Key<Duration> FORECAST_STEP = Key.period(
            "scheduler.forecast-step",
            "60s",
            "In accelerated runs: length of the forecaster's steps of demand, used until a service's first forecast arrives.");
    static final Key<Duration> FORECAST_PATIENCE = Key.duration(
            "scheduler.forecast-patience",
            "30s",
            "In accelerated runs: wall-clock time to wait for a forecast before continuing without it.");
    /** The limits of a domain by default. */
    static final DomainLimits DEFAULT_LIMITS = new DomainLimits(1_000, 10_000, 1_024, 5_000, 50_000, 1_000);

    static final int DEFAULT_LABELLED_DOMAINS = 100;

    static final Key<Integer> MAX_DOMAINS = limit(
            "scheduler.max-domains",
            DEFAULT_LIMITS.domains(),
            "Most domains in one partition of the inputs. Records of further domains are refused; existing domains stay.");
    static final Key<Integer> MAX_NODES = limit(
            "scheduler.max-nodes",
            DEFAULT_LIMITS.nodes(),
            "Most nodes of a domain. Further nodes are refused; a node's tombstone frees its place.");
    static final Key<Integer> MAX_GPUS_PER_NODE = limit(
            "scheduler.max-gpus-per-node",
            DEFAULT_LIMITS.gpusPerNode(),
            "Most GPUs of a node, and ten times as many GPUs and MIG instances together. An inventory with more is refused.");
    static final Key<Integer> MAX_SERVICES = limit(
            "scheduler.max-services",
            DEFAULT_LIMITS.services(),
            "Most inference services of a domain. Further services are refused.");
    static final Key<Integer> MAX_JOBS = limit(
            "scheduler.max-jobs",
            DEFAULT_LIMITS.jobs(),
            "Most unfinished training jobs of a domain, and ten times as many including jobs that ended in the last 24 h. Further jobs are refused; a job that ends frees its place.");
    static final Key<Integer> MAX_RATE_SOURCES = limit(
            "scheduler.max-rate-sources",
            DEFAULT_LIMITS.sources(),
            "Most sources that report the request rates of one service. Further sources are refused; a source that is silent for ten minutes frees its place.");
    static final Key<Integer> MAX_LABELLED_DOMAINS = Key.count(
            "scheduler.max-labelled-domains",
            0,
            Integer.MAX_VALUE,
            DEFAULT_LABELLED_DOMAINS,
            "Most domains with a label of their own in an instance's metrics. All others are summed up under the label other.");

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
            REPARTITION,
            REPARTITION_EVERY,
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
            MAX_LABELLED_DOMAINS);

    private SchedulerKeys() {}

    private static Key<Integer> limit(String name, int otherwise, String description) {
        return Key.count(name, 1, Integer.MAX_VALUE, otherwise, description);
    }

    /** All settings of the scheduler, for the reference page. */
    public static List<Key<?>> all() {
        return ALL;
    }

    static SchedulerOptions options(Settings settings) {
        return new SchedulerOptions(
                scheduler(settings),
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
                        settings.get(MAX_RATE_SOURCES)));
    }

    private static Scheduler scheduler(Settings settings) {
        Policy policy = policy(settings.get(POLICY));
        try {
            return new Scheduler(
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
                                    QuietWindows.parse(settings.get(QUIET_WINDOWS))),
                            settings.get(REPARTITION),
                            settings.get(REPARTITION_EVERY),
                            DEFAULTS.planPhase()));
        } catch (IllegalArgumentException e) {
            throw new SettingsException(String.valueOf(e.getMessage()), e);
        }
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
