// SPDX-License-Identifier: Apache-2.0

import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Files without checksums and permissions: Hadoop starts a chmod for each file that it makes. */
public class QuickFiles extends LocalFileSystem {
  public QuickFiles() {
    super(
        new RawLocalFileSystem() {
          @Override
          public void setPermission(Path path, FsPermission permission) {}
        });
    setWriteChecksum(false);
    setVerifyChecksum(false);
  }
}
