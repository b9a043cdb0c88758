/** This host: its processes, and the names under which agent and actuator know them. */
@NullMarked
package io.lendstream.service.host;

import org.jspecify.annotations.NullMarked;
