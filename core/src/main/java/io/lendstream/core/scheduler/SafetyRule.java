package io.lendstream.core.scheduler;

import java.util.Optional;

/**
 * A rule that has to hold before something is lent or changed, and how it stands.
 *
 * @param rule what it asks for
 * @param forbids what is not done where that is not so
 * @param broken why it is not so; empty where it is
 */
public record SafetyRule(String rule, String forbids, Optional<String> broken) {}
