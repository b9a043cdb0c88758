/** What {@code deploy} has for Kubernetes and systemd: that it is well-formed, safe, and says what our services understand. */
@NullMarked
package io.lendstream.launcher.deploy;

import org.jspecify.annotations.NullMarked;
