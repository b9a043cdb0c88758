package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.event.TrustOrder;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloMisses;
import io.lendstream.core.state.Trust;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Changes the level of trust of a domain: at its first start, by orders of operators, and down by one step if a service
 * misses its SLO while loans are out. Each change, and each order that is refused, is answered by a hold.
 */
final class TrustLadder {
    /** The least time between two steps down that the scheduler takes by itself. */
    static final Duration BETWEEN_STEPS = Duration.ofHours(1);

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private Optional<String> answer = Optional.empty();
    private boolean isChanged;

    TrustLadder(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
    }

    /** Follows the event; decides nothing. */
    void follow() {
        builder.event().asStarted().ifPresent(this::begin);
        builder.event().asCommand().ifPresent(this::take);
        builder.event().asRate().ifPresent(this::watch);
    }

    /** A later start leaves the level as it is; domains of older versions have none, and keep none. */
    private void begin(SchedulerStarted started) {
        TrustLevel first = settings.changeLimits().trust().first();
        if (builder.before().epoch() == 0 && first != TrustLevel.ALL) {
            put(Trust.of(first, Optional.empty(), builder.now(), "scheduler.first-trust"));
        }
    }

    private void take(ControlCommand command) {
        if (command.kind() == ControlCommand.Kind.TRUST) {
            command.trust()
                    .filter(order -> order.level() != TrustLevel.UNKNOWN)
                    .ifPresent(order -> take(command, order));
        } else if (command.kind() == ControlCommand.Kind.ADVISORY_OFF
                && builder.mode().level().isAdvice()) {
            answer = Optional.of(
                    "decisions do not come into force: the level of trust is %s; 'lendstream trust' shows how to raise it"
                            .formatted(builder.mode().level().label()));
        }
    }

    private void take(ControlCommand command, TrustOrder order) {
        TrustLevel level = builder.mode().level();
        String change = "%s to %s".formatted(level.label(), order.level().label());
        Optional<String> refusal =
                unknown(order).or(() -> order.level().compareTo(level) > 0 ? againstRising(order) : Optional.empty());
        if (refusal.isPresent()) {
            answer = Optional.of("the level of trust does not change from %s: %s".formatted(change, refusal.get()));
            return;
        }
        Optional<Trust> known = builder.mode().trust();
        boolean isSame = known.filter(trust -> trust.level() == order.level()
                        && (order.service().isEmpty() || order.service().equals(trust.service())))
                .isPresent();
        isChanged = true;
        if (isSame) {
            answer = Optional.of("the level of trust is %s already, since %s"
                    .formatted(known.get().inWords(), known.get().since()));
            return;
        }
        Trust next = known.map(trust -> trust.at(order.level(), order.service(), builder.now(), command.issuer()))
                .orElseGet(() -> Trust.of(order.level(), order.service(), builder.now(), command.issuer()));
        Optional<String> passed = order.level().compareTo(level) > 0
                ? settings.changeLimits().trust().obstacle(builder.mode(), order.level(), builder.now())
                : Optional.empty();
        put(next);
        answer = Optional.of("the level of trust is %s, and was %s, by order of %s%s"
                .formatted(
                        next.inWords(),
                        level.label(),
                        command.issuer(),
                        passed.map(why -> ", who ordered it anyway, although " + why)
                                .orElse("")));
    }

    /** Why a level that names a service cannot be taken, whatever the level is now; empty if it can. */
    private Optional<String> unknown(TrustOrder order) {
        return order.level() == TrustLevel.ONE_SERVICE
                        && order.service().flatMap(builder.services()::get).isEmpty()
                ? Optional.of("service %s is unknown in this domain; declare it, or name another with --service"
                        .formatted(order.service().map(ServiceId::value).orElse("(none named)")))
                : Optional.empty();
    }

    /** Why the level must not rise as ordered; empty if it may. */
    private Optional<String> againstRising(TrustOrder order) {
        return order.anyway()
                ? Optional.empty()
                : settings.changeLimits().trust().againstRising(builder.mode(), order.level(), builder.now());
    }

    /** Counts windows in which a service misses its SLO, and lowers the level if that goes on while loans are out. */
    private void watch(RequestRate rate) {
        builder.services()
                .get(rate.service())
                .ifPresent(service ->
                        settings.measurements().judged(service, rate).ifPresent(judged -> watch(service, judged)));
    }

    private void watch(ServiceState service, RequestRate rate) {
        Optional<Trust> known = builder.mode().trust();
        Optional<Double> p99 = rate.latency().p99LatencySeconds();
        boolean isUnanswered = p99.isEmpty()
                && rate.requests().arrivals() > 0
                && rate.requests().completions() == 0;
        if (known.isEmpty() || known.get().level().isAdvice() || (p99.isEmpty() && !isUnanswered)) {
            return;
        }
        double slo = service.spec().slo().toMillis() / 1000.0;
        boolean isMissed = isUnanswered || p99.get() > slo;
        Trust trust = known.get().measured(rate, isMissed);
        if (!trust.equals(known.get())) {
            builder.trust(trust);
        }
        int windows = trust.misses(rate).map(SloMisses::windows).orElse(0);
        if (windows < MeasurementRules.SUSTAINED_WINDOWS || isJustLowered(trust) || !isMissed) {
            return;
        }
        int lent = lent();
        int serving = RunningReplicas.servingSince(builder, rate.service(), builder.now());
        int needed = Inference.need(policy, settings, service, builder.now()).replicas();
        if (lent == 0 || serving >= needed) {
            return;
        }
        lower(trust, rate, slo, new Shortage(windows, lent, serving, needed));
    }

    /** What a service lacks that has missed its SLO in so many windows in a row. */
    private record Shortage(int windows, int lent, int serving, int needed) {}

    private void lower(Trust trust, RequestRate rate, double slo, Shortage lack) {
        Trust lower = trust.loweredTo(trust.level().below(), builder.now());
        put(lower);
        answer = Optional.of(
                "the level of trust falls from %s to %s: %s missed its SLO of %s s in %d windows in a row (%s), and has %d of %d replicas that it needs, while %s %s lent"
                        .formatted(
                                trust.level().label(),
                                lower.inWords(),
                                rate.service(),
                                slo,
                                lack.windows(),
                                rate.latency()
                                        .p99LatencySeconds()
                                        .map("p99 %s s"::formatted)
                                        .orElse("no request was answered"),
                                lack.serving(),
                                lack.needed(),
                                Reason.counted(lack.lent(), "GPU"),
                                lack.lent() == 1 ? "is" : "are"));
    }

    private boolean isJustLowered(Trust trust) {
        return trust.loweredAt()
                .map(at -> at.plus(BETWEEN_STEPS))
                .filter(builder.now()::isBefore)
                .isPresent();
    }

    /** GPUs and MIG instances of inference that are with training, or on their way there or back. */
    private int lent() {
        int lent = 0;
        for (GpuState unit : builder.gpus().values()) {
            lent += unit.pool() == Pool.INFERENCE && unit.owner().isHeldByJob() ? 1 : 0;
        }
        return lent;
    }

    private void put(Trust next) {
        isChanged = true;
        builder.mode(builder.mode().with(next));
    }

    /**
     * Decides the hold that answers the event.
     *
     * @return whether there is an answer
     */
    boolean answer() {
        if (answer.isEmpty()) {
            return false;
        }
        TrustLevel level = builder.mode().level();
        builder.binding(true);
        builder.decide(
                builder.now(),
                builder.because(
                        ReasonCode.TRUST,
                        answer.get(),
                        Map.of("level", (double) level.rank(), "refused", isChanged ? 0.0 : 1.0),
                        List.of()),
                new Action.Hold(Optional.empty(), Optional.empty()));
        return true;
    }
}
