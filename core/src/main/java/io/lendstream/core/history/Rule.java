package io.lendstream.core.history;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/** The rules that a history or a state may break. */
enum Rule {
    ANSWER("answer"),
    APPLIED_TWICE("applied twice"),
    BIND_BEFORE_RELEASE("bind before release"),
    BUNDLE("bundle"),
    CAP("cap"),
    EPOCH("epoch"),
    FENCE("fence"),
    FLOOR("floor"),
    GANG("gang"),
    GROUP("group"),
    HOST("host"),
    INSTANCES("instances"),
    KIND("kind"),
    LEASES("leases"),
    LEND("lend"),
    LOG("log"),
    ONE_OWNER("one owner"),
    QUOTA("quota"),
    RELEASE("release"),
    REPLAY("replay"),
    REPORTS("reports"),
    ROLE_FLOOR("role floor"),
    SHAPE("shape"),
    SLO("slo"),
    SNAPSHOT("snapshot"),
    TRUST("trust");

    private final String name;

    Rule(String name) {
        this.name = name;
    }

    /** The names of all rules, as {@link Violation#rule} has them. */
    static Set<String> names() {
        return Arrays.stream(values()).map(Rule::toString).collect(Collectors.toUnmodifiableSet());
    }

    Violation violation(String text) {
        return new Violation(name, text);
    }

    @Override
    public String toString() {
        return name;
    }
}
