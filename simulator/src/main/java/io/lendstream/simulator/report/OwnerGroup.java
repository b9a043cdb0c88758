package io.lendstream.simulator.report;

import io.lendstream.core.state.Owner;

/** The owners of GPUs, in as many groups as a picture can show. */
public enum OwnerGroup {
    TRAINING("training", "held by jobs on training's own nodes"),
    LENT("lent", "inference GPUs that train"),
    SERVING("serving", "replicas that demand needs"),
    WARM("warm", "replicas kept warm, protected or sleeping"),
    MOVING("starting or moving", "being bound, released or recut"),
    FREE("free", "without owner"),
    QUARANTINED("quarantined", "out of service until a reset");

    private static final Groups GROUPS = new Groups();

    private final String label;
    private final String meaning;

    OwnerGroup(String label, String meaning) {
        this.label = label;
        this.meaning = meaning;
    }

    /** What the group is called in legends. */
    public String label() {
        return label;
    }

    /** The same in a few more words. */
    public String meaning() {
        return meaning;
    }

    /** The group that an owner belongs to. */
    public static OwnerGroup of(Owner owner) {
        return owner.match(GROUPS);
    }

    private static final class Groups implements Owner.Cases<OwnerGroup> {
        @Override
        public OwnerGroup free(Owner.Free free) {
            return FREE;
        }

        @Override
        public OwnerGroup binding(Owner.Binding binding) {
            return MOVING;
        }

        @Override
        public OwnerGroup lent(Owner.Lent lent) {
            return LENT;
        }

        @Override
        public OwnerGroup training(Owner.Training training) {
            return TRAINING;
        }

        @Override
        public OwnerGroup serving(Owner.Serving serving) {
            return SERVING;
        }

        @Override
        public OwnerGroup protectedReplica(Owner.Protected replica) {
            return WARM;
        }

        @Override
        public OwnerGroup sleeping(Owner.Sleeping sleeping) {
            return WARM;
        }

        @Override
        public OwnerGroup releasing(Owner.Releasing releasing) {
            return MOVING;
        }

        @Override
        public OwnerGroup recutting(Owner.Recutting recutting) {
            return MOVING;
        }

        @Override
        public OwnerGroup quarantined(Owner.Quarantined quarantined) {
            return QUARANTINED;
        }
    }
}
