package io.lendstream.core.decision;

import java.util.Optional;

/** The questions of {@link Action} about one kind; made once, as they are asked of every decision. */
final class ActionParts {
    static final Action.Cases<Optional<Action.Lend>> LEND = new OneCase<>() {
        @Override
        public Optional<Action.Lend> lend(Action.Lend lend) {
            return Optional.of(lend);
        }
    };

    static final Action.Cases<Optional<Action.Reclaim>> RECLAIM = new OneCase<>() {
        @Override
        public Optional<Action.Reclaim> reclaim(Action.Reclaim reclaim) {
            return Optional.of(reclaim);
        }
    };

    static final Action.Cases<Optional<Action.Serve>> SERVE = new OneCase<>() {
        @Override
        public Optional<Action.Serve> serve(Action.Serve serve) {
            return Optional.of(serve);
        }
    };

    static final Action.Cases<Optional<Action.Idle>> IDLE = new OneCase<>() {
        @Override
        public Optional<Action.Idle> idle(Action.Idle idle) {
            return Optional.of(idle);
        }
    };

    static final Action.Cases<Optional<Action.Batching>> BATCHING = new OneCase<>() {
        @Override
        public Optional<Action.Batching> batching(Action.Batching batching) {
            return Optional.of(batching);
        }
    };

    static final Action.Cases<Optional<Action.Repartition>> REPARTITION = new OneCase<>() {
        @Override
        public Optional<Action.Repartition> repartition(Action.Repartition repartition) {
            return Optional.of(repartition);
        }
    };

    static final Action.Cases<Optional<Action.Renew>> RENEW = new OneCase<>() {
        @Override
        public Optional<Action.Renew> renew(Action.Renew renew) {
            return Optional.of(renew);
        }
    };

    static final Action.Cases<Optional<Action.Hold>> HOLD = new OneCase<>() {
        @Override
        public Optional<Action.Hold> hold(Action.Hold hold) {
            return Optional.of(hold);
        }
    };

    static final Action.Cases<Optional<Action.Adopt>> ADOPT = new OneCase<>() {
        @Override
        public Optional<Action.Adopt> adopt(Action.Adopt adopt) {
            return Optional.of(adopt);
        }
    };

    private ActionParts() {}

    /** Finds nothing in any case, for questions about one case, which override it. */
    private abstract static class OneCase<T> implements Action.Cases<Optional<T>> {
        @Override
        public Optional<T> lend(Action.Lend lend) {
            return Optional.empty();
        }

        @Override
        public Optional<T> reclaim(Action.Reclaim reclaim) {
            return Optional.empty();
        }

        @Override
        public Optional<T> resize(Action.Resize resize) {
            return Optional.empty();
        }

        @Override
        public Optional<T> serve(Action.Serve serve) {
            return Optional.empty();
        }

        @Override
        public Optional<T> idle(Action.Idle idle) {
            return Optional.empty();
        }

        @Override
        public Optional<T> batching(Action.Batching batching) {
            return Optional.empty();
        }

        @Override
        public Optional<T> repartition(Action.Repartition repartition) {
            return Optional.empty();
        }

        @Override
        public Optional<T> renew(Action.Renew renew) {
            return Optional.empty();
        }

        @Override
        public Optional<T> hold(Action.Hold hold) {
            return Optional.empty();
        }

        @Override
        public Optional<T> adopt(Action.Adopt adopt) {
            return Optional.empty();
        }
    }
}
