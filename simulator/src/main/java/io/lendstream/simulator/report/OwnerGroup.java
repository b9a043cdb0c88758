package io.lendstream.simulator.report;

import io.lendstream.core.state.Owner;

/** The owners of GPUs, in as many groups as a picture can show. */
public enum OwnerGroup {
    TRAINING("training", "held by jobs on training's own nodes"),
    LENT("lent", "inference GPUs that train"),
    SERVING("serving", "replicas that demand needs"),
    WARM("warm", "replicas kept warm, protected or sleeping"),
    MOVING("starting or moving", "being bound, released or recut"),
    FREE("free", "nobody's"),
    QUARANTINED("quarantined", "out of service until a reset");

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
        if (owner instanceof Owner.Training) {
            return TRAINING;
        }
        if (owner instanceof Owner.Lent) {
            return LENT;
        }
        if (owner instanceof Owner.Serving) {
            return SERVING;
        }
        if (owner instanceof Owner.Protected || owner instanceof Owner.Sleeping) {
            return WARM;
        }
        if (owner instanceof Owner.Binding || owner instanceof Owner.Releasing || owner instanceof Owner.Recutting) {
            return MOVING;
        }
        if (owner instanceof Owner.Quarantined) {
            return QUARANTINED;
        }
        return FREE;
    }
}
