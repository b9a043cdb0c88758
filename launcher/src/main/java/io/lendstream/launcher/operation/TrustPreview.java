package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.history.LendingExplainer;
import java.util.ArrayList;
import java.util.List;

/** What an order of a level of trust would do to loans now: the scheduler's own step, made without giving the order. */
final class TrustPreview {
    private TrustPreview() {}

    /** The lines about one domain, by its log up to the end. */
    static List<String> lines(LendingExplainer log, ControlCommand order) {
        String level = order.trust().map(trust -> trust.level().label()).orElse("");
        String domain = "domain %s: with trust %s ".formatted(order.domain(), level);
        if (log.obstacle().isPresent()) {
            return List.of("%sit is unknown which loans would be taken back: %s"
                    .formatted(domain, log.obstacle().get()));
        }
        List<String> returns = new ArrayList<>();
        for (Decision decision : log.answersTo(order)) {
            boolean isAboutTrust = decision.reason().is(ReasonCode.TRUST);
            if (isAboutTrust && decision.reason().numbers().getOrDefault("refused", 0.0) > 0) {
                return List.of("domain %s: trust %s would be refused: %s"
                        .formatted(order.domain(), level, decision.reason().text()));
            }
            if (isAboutTrust && decision.isReclaim()) {
                returns.add("  " + EventText.of(decision.action()));
            }
        }
        if (returns.isEmpty()) {
            return List.of(domain + "no loan would be taken back now");
        }
        returns.add(0, domain + "loans would be taken back, as beyond the level:");
        return returns;
    }
}
