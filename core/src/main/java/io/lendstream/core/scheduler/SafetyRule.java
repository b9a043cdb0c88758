package io.lendstream.core.scheduler;

import java.util.Optional;

/**
 * A rule that must hold before GPUs are lent or jobs are changed, and its present state.
 *
 * @param rule the condition
 * @param forbids the changes that are not made while the condition does not hold
 * @param broken why the condition does not hold; empty if it holds
 */
public record SafetyRule(String rule, String forbids, Optional<String> broken) {}
