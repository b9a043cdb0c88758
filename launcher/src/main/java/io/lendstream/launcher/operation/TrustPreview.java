package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What an order of a level of trust would do to loans in one domain: the scheduler's own step, made without giving the
 * order.
 *
 * @param at the last event of the log, by which it is known; empty if it is not
 * @param refusal why the scheduler would refuse the order
 * @param obstacle why it is unknown what the order would do
 * @param returns what would be taken back
 */
record TrustPreview(
        ControlCommand order,
        Optional<Instant> at,
        Optional<String> refusal,
        Optional<String> obstacle,
        List<String> returns) {
    /** A log that ends so long before the order is named with its time. */
    private static final Duration RECENT = Duration.ofSeconds(30);

    TrustPreview {
        returns = List.copyOf(returns);
    }

    /** By the log of the domain up to its end. */
    static TrustPreview of(LendingExplainer log, ControlCommand order) {
        if (log.obstacle().isPresent()) {
            return unknown(order, log.obstacle().get());
        }
        List<String> returns = new ArrayList<>();
        Optional<String> refusal = Optional.empty();
        for (Decision decision : log.answersTo(order)) {
            boolean isAboutTrust = decision.reason().is(ReasonCode.TRUST);
            if (isAboutTrust && decision.reason().numbers().getOrDefault("refused", 0.0) > 0) {
                refusal = Optional.of(decision.reason().text());
            } else if (isAboutTrust && decision.isReclaim()) {
                returns.add(EventText.of(decision.action()));
            }
        }
        return new TrustPreview(order, Optional.of(log.lastEventAt()), refusal, Optional.empty(), returns);
    }

    /**
     * One that an order does not wait for longer than until a time, and that does not keep it from being given.
     *
     * @param nanos the time, of {@link System#nanoTime}
     */
    static TrustPreview until(long nanos, ControlCommand order, Callable<TrustPreview> preview) {
        FutureTask<TrustPreview> task = new FutureTask<>(preview);
        Thread thread = new Thread(task, "preview");
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(Math.max(0, nanos - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return unknown(order, "the log is long; '--dry-run' reads all of it");
        } catch (ExecutionException e) {
            return unknown(
                    order,
                    String.valueOf(Optional.ofNullable(e.getCause()).orElse(e).getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return unknown(order, "interrupted");
        }
    }

    static TrustPreview unknown(ControlCommand order, String why) {
        return new TrustPreview(order, Optional.empty(), Optional.empty(), Optional.of(why), List.of());
    }

    private String level() {
        return order.trust().map(trust -> trust.level().label()).orElse("");
    }

    /** Whether the scheduler would follow the order. */
    boolean isFollowed() {
        return refusal.isEmpty() && obstacle.isEmpty();
    }

    List<String> lines() {
        if (refusal.isPresent()) {
            return List.of(
                    "domain %s: trust %s would be refused: %s".formatted(order.domain(), level(), refusal.get()));
        }
        String domain = "domain %s: with trust %s ".formatted(order.domain(), level());
        if (obstacle.isPresent()) {
            return List.of("%sit is unknown which loans would be taken back: %s".formatted(domain, obstacle.get()));
        }
        String time = at.filter(last -> last.isBefore(order.at().minus(RECENT)))
                .map(last -> ", by the last event of its log (%s)".formatted(Times.at(last)))
                .orElse("");
        if (returns.isEmpty()) {
            return List.of("%sno loan would be taken back now%s".formatted(domain, time));
        }
        List<String> lines = new ArrayList<>();
        lines.add("%sloans would be taken back, as beyond the level%s:".formatted(domain, time));
        returns.forEach(each -> lines.add("  " + each));
        return lines;
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("domain", order.domain().value()).put("level", level()).put("followed", isFollowed());
        at.ifPresent(last -> json.put("at", last.toString()));
        refusal.or(() -> obstacle).ifPresent(why -> json.put("why", why));
        ArrayNode loans = json.putArray("takenBack");
        returns.forEach(loans::add);
        return json;
    }
}
