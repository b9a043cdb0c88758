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
    /** Whose forecasts there are. */
    enum Forecaster {
        FLINK,
        NONE
    }

    private static final SchedulerSettings DEFAULTS = SchedulerSettings.DEFAULTS;

    static final Key<String> POLICY = Key.word(
            "scheduler.policy",
            "deepboot",
            "The policy, with its settings as name:key=value; 'lendstream policies' lists them.");
    static final Key<Boolean> LENDING =
            Key.flag("scheduler.lending", DEFAULTS.lending(), "Whether idle inference GPUs are lent to training.");
    static final Key<Boolean> AFE = Key.flag(
            "scheduler.afe",
            DEFAULTS.afe(),
            "Whether elastic jobs change their GPUs in place; otherwise every change restarts the job.");
    static final Key<Duration> NOTICE = Key.period(
            "scheduler.notice", text(DEFAULTS.notice()), "How long a job has to give GPUs up before they are taken.");
    static final Key<Duration> BIND_DEADLINE = Key.period(
            "scheduler.bind-deadline",
            text(DEFAULTS.bindDeadline()),
            "How long an actuator has to bind a GPU to a job.");
    static final Key<Duration> LEASE =
            Key.period("scheduler.lease", text(DEFAULTS.lease()), "How long a loan runs unless it is renewed.");
    static final Key<Duration> NODE_STALE_AFTER = Key.period(
            "scheduler.node-stale-after",
            text(DEFAULTS.nodeStaleAfter()),
            "Silence of a node after which its telemetry is stale.");
    static final Key<Double> MAX_SHARE_LENT = Key.fraction(
            "scheduler.max-share-lent",
            DEFAULTS.changeLimits().maxShareLent(),
            "The greatest share of inference GPUs that may be lent at a time, rounded down to whole GPUs; idle ones beyond it are reserve.");
    static final Key<Integer> MAX_LOANS_PER_MINUTE = Key.count(
            "scheduler.max-loans-per-minute",
            0,
            Integer.MAX_VALUE,
            DEFAULTS.changeLimits().maxLoansPerMinute(),
            "The most GPUs newly lent per minute.");
    static final Key<Integer> MAX_TRANSFERS = Key.count(
            "scheduler.max-transfers",
            1,
            Integer.MAX_VALUE,
            DEFAULTS.changeLimits().maxTransfers(),
            "The most GPUs that may be on their way to training or back at a time before a plan adds more; halved while a service misses its SLO. A job that would gain more at once waits.");
    static final Key<Duration> MIN_HOLD = Key.duration(
            "scheduler.min-hold",
            text(DEFAULTS.changeLimits().minHold()),
            "For how long no plan changes a job that was changed. Reclaims for inference do not wait for it.");
    static final Key<String> QUIET_WINDOWS = Key.text(
            "scheduler.quiet-windows",
            "",
            "Times of the week, in UTC, at which no plan is made: 08:00-10:00, or mon-fri 17:30-18:30, between commas. Inference is given what it needs.");
    static final Key<Boolean> REPARTITION = Key.flag(
            "scheduler.repartition",
            DEFAULTS.repartition(),
            "Whether GPUs of inference that are in MIG mode, or may be brought into it, are cut anew as services need, whose latency has been learned.");
    static final Key<Duration> REPARTITION_EVERY = Key.period(
            "scheduler.repartition-every",
            text(DEFAULTS.repartitionEvery()),
            "How often their cuts are planned while those in force suffice.");
    static final Key<String> APPLICATION_ID = Key.text(
            "scheduler.application-id",
            "",
            "The name that the scheduler's instances share and that its internal topics start with; nothing for the topic prefix and 'scheduler'.");
    static final Key<Forecaster> FORECASTER = Key.choice(
            "scheduler.forecaster",
            Forecaster.FLINK,
            "Who forecasts demand; with none, an accelerated run does not wait for forecasts.");
    static final Key<Duration> FORECAST_STEP = Key.period(
            "scheduler.forecast-step",
            "60s",
            "Length of the forecaster's steps of demand, until a service's first forecast says it; for accelerated runs.");
    static final Key<Duration> FORECAST_PATIENCE = Key.duration(
            "scheduler.forecast-patience",
            "30s",
            "How long, on the wall clock, an accelerated run waits for a forecast before it goes on without.");
    /** What a domain may have where nothing else is said. */
    static final DomainLimits DEFAULT_LIMITS = new DomainLimits(1_000, 10_000, 1_024, 5_000, 50_000, 1_000);

    static final int DEFAULT_LABELLED_DOMAINS = 100;

    static final Key<Integer> MAX_DOMAINS = limit(
            "scheduler.max-domains",
            DEFAULT_LIMITS.domains(),
            "The most domains that one partition of the inputs may bring up. Records of one more are refused; domains that are there already stay.");
    static final Key<Integer> MAX_NODES = limit(
            "scheduler.max-nodes",
            DEFAULT_LIMITS.nodes(),
            "The most nodes of a domain. One more is refused; a node's tombstone frees its place.");
    static final Key<Integer> MAX_GPUS_PER_NODE = limit(
            "scheduler.max-gpus-per-node",
            DEFAULT_LIMITS.gpusPerNode(),
            "The most GPUs of a node, and ten times as many GPUs and MIG instances together. An inventory with more is refused.");
    static final Key<Integer> MAX_SERVICES = limit(
            "scheduler.max-services",
            DEFAULT_LIMITS.services(),
            "The most inference services of a domain. One more is refused.");
    static final Key<Integer> MAX_JOBS = limit(
            "scheduler.max-jobs",
            DEFAULT_LIMITS.jobs(),
            "The most training jobs of a domain that are not over, and ten times as many with those that were over in the last 24 h. One more is refused; a job that is over frees its place.");
    static final Key<Integer> MAX_RATE_SOURCES = limit(
            "scheduler.max-rate-sources",
            DEFAULT_LIMITS.sources(),
            "The most sources that report the request rates of one service. One more is refused; a source that is silent for ten minutes frees its place.");
    static final Key<Integer> MAX_LABELLED_DOMAINS = Key.count(
            "scheduler.max-labelled-domains",
            0,
            Integer.MAX_VALUE,
            DEFAULT_LABELLED_DOMAINS,
            "The most domains that an instance's metrics name; all others are summed up under the label other.");

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
