package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloFeedback;
import io.lendstream.core.state.SloMisses;
import io.lendstream.core.state.SourceRate;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Gives a service more replicas that misses its SLO although it has those for its load, within a bound, and takes them
 * back when it meets its SLO for long enough. It changes what the service needs; the phases act on that.
 */
record SloWatch(StepBuilder builder, Policy policy, SchedulerSettings settings) {
    /** Follows a rate that is applied already. */
    void follow() {
        if (rules().isOn()) {
            builder.event()
                    .asRate()
                    .filter(this::isNews)
                    .ifPresent(rate -> builder.services()
                            .get(rate.service())
                            .ifPresent(service -> settings.measurements()
                                    .judged(service, rate)
                                    .ifPresent(judged -> follow(service, judged))));
        }
    }

    /** Not a rate that came before, was overtaken, or is of a service that is removed. */
    private boolean isNews(RequestRate rate) {
        return builder.before()
                .services()
                .get(rate.service())
                .filter(service -> !service.spec().removed() && !service.hasSeen(rate))
                .isPresent();
    }

    private void follow(ServiceState service, RequestRate rate) {
        boolean isMissed = isMissed(service, rate);
        if (service.feedback().isEmpty() && !isMissed) {
            return;
        }
        SloFeedback known = service.feedback().orElseGet(() -> SloFeedback.of(builder.now()));
        SloFeedback next = known.measured(rate, isMissed);
        int windows = SloMisses.of(next.misses(), rate).map(SloMisses::windows).orElse(0);
        if (isMissed && windows >= MeasurementRules.SUSTAINED_WINDOWS) {
            next = raised(service, next.missed(rate.windowEnd()), rate);
        } else if (!isMissed) {
            next = next.rested(builder.now());
        }
        Optional<SloFeedback> kept =
                next.isOver(rules().withhold(), builder.now()) ? Optional.empty() : Optional.of(next);
        if (!kept.equals(service.feedback())) {
            builder.put(service.with(kept));
        }
    }

    /**
     * One step more if the replicas that the service needs already have served in all these windows: they are the cure
     * of the others, and clear the queue that was there before them.
     */
    private SloFeedback raised(ServiceState service, SloFeedback feedback, RequestRate last) {
        ReplicaNeed need = Inference.need(policy, settings, service, builder.now());
        Duration windows = last.window().multipliedBy(MeasurementRules.SUSTAINED_WINDOWS);
        Instant begin = last.windowEnd().minus(windows);
        return RunningReplicas.servingSince(builder, service.spec().service(), begin) < need.replicas()
                ? feedback
                : feedback.raised(need.replicas() - need.more(), rules().extra(), builder.now());
    }

    private SloRules rules() {
        return settings.changeLimits().slo();
    }

    /** Whether requests wait for longer than the SLO by their latency, or by a queue that grows (Little's law). */
    private boolean isMissed(ServiceState service, RequestRate rate) {
        double slo = service.spec().slo().toMillis() / 1000.0;
        if (rate.latency().p99LatencySeconds().filter(p99 -> p99 > slo).isPresent()) {
            return true;
        }
        int waiting = rate.requests().queueDepth();
        int before = builder.before()
                .services()
                .get(rate.service())
                .map(ServiceState::sources)
                .map(sources -> sources.get(rate.source()))
                .map(SourceRate::queueDepth)
                .orElse(0);
        return waiting > before && waiting > perSecond(service, rate) * slo;
    }

    /** The rate of the source. One short window alone may have no arrivals by chance. */
    private double perSecond(ServiceState service, RequestRate rate) {
        return settings.measurements().sumShortWindows()
                ? Optional.ofNullable(service.sources().get(rate.source()))
                        .map(SourceRate::arrivalsPerSecond)
                        .orElseGet(rate::arrivalsPerSecond)
                : rate.arrivalsPerSecond();
    }
}
