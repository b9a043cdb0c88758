package io.lendstream.core.decision;

import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The change that a decision asks for, without its times and the figures of its reason. Two decisions that ask for
 * equal changes are the same proposal.
 *
 * @param kind the word for counts, so that a release is no reclaim
 * @param action the action without deadlines; of a job its GPUs, and not the batch that follows from them
 * @param cause the reason of a hold without its figures, because holds differ in nothing else; empty for other actions
 */
public record RequestedChange(String kind, Action action, String cause) {
    /** Numbers by themselves; digits of names, such as {@code chat-2}, tell causes apart. */
    private static final Pattern FIGURES = Pattern.compile("(?<![\\w.-])\\d+(\\.\\d+)?(?![\\w-])");

    /** What a figure counts, in the plural. */
    private static final Pattern PLURAL = Pattern.compile("(# [a-zA-Z]+?)s\\b(?!-)");
    /** A verb that agrees with a figure. */
    private static final Pattern VERB = Pattern.compile("(# [a-zA-Z]+) (?:does|do|is|are|has|have)\\b(?!-)");

    /** The change that a decision asks for. */
    public static RequestedChange of(Decision decision) {
        Reason reason = decision.reason();
        String cause = decision.action().isHold() ? reason.code() + ": " + withoutFigures(reason.text()) : "";
        return new RequestedChange(decision.countedAs(), decision.action().match(new WithoutTimes()), cause);
    }

    private static String withoutFigures(String text) {
        String counted = FIGURES.matcher(text).replaceAll("#");
        return VERB.matcher(PLURAL.matcher(counted).replaceAll("$1")).replaceAll("$1 #");
    }

    /** The same action at the same time for all. */
    private static final class WithoutTimes implements Action.Cases<Action> {
        private static Allocation gpusOf(Allocation allocation) {
            return new Allocation(allocation.gpus(), 0, 0, 1.0, allocation.mechanism());
        }

        /** The names of new replicas come from their decision, so that they say nothing about the change. */
        private static List<ReplicaUnits> unnamed(List<ReplicaUnits> replicas) {
            return replicas.stream()
                    .map(each -> new ReplicaUnits(new ReplicaId("#"), each.shape(), each.role(), each.units()))
                    .toList();
        }

        @Override
        public Action lend(Action.Lend lend) {
            return new Action.Lend(lend.job(), lend.gpus(), Instant.EPOCH, gpusOf(lend.allocation()));
        }

        @Override
        public Action reclaim(Action.Reclaim reclaim) {
            return new Action.Reclaim(reclaim.job(), reclaim.gpus(), Instant.EPOCH, gpusOf(reclaim.allocation()));
        }

        @Override
        public Action resize(Action.Resize resize) {
            boolean isOnlyOfBatch = resize.gpus().isEmpty();
            return isOnlyOfBatch ? resize : new Action.Resize(resize.job(), resize.gpus(), gpusOf(resize.allocation()));
        }

        @Override
        public Action serve(Action.Serve serve) {
            return new Action.Serve(serve.service(), serve.gpus(), serve.warm(), unnamed(serve.replicas()));
        }

        @Override
        public Action idle(Action.Idle idle) {
            return new Action.Idle(idle.service(), idle.gpus(), Instant.EPOCH, unnamed(idle.replicas()));
        }

        @Override
        public Action batching(Action.Batching batching) {
            return batching;
        }

        @Override
        public Action repartition(Action.Repartition repartition) {
            return repartition;
        }

        @Override
        public Action renew(Action.Renew renew) {
            return new Action.Renew(renew.gpus(), Instant.EPOCH);
        }

        @Override
        public Action hold(Action.Hold hold) {
            return hold;
        }

        /** Never advice: it changes nothing that runs. */
        @Override
        public Action adopt(Action.Adopt adopt) {
            return adopt;
        }
    }
}
