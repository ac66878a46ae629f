//! What programs print, in their own form with values of our own.

pub const A3: &str = "\
+------------------------------------------------------------------------------------------------+
| npu-smi 26.0.rc1                 Version: 26.0.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 2     Ascend910           | OK            | 160.1       47                0    / 0             |
| 0     4                   | 0000:4D:00.0  | 0           0    / 0          3001 / 65536         |
+------------------------------------------------------------------------------------------------+
| 2     Ascend910           | OK            | -           46                0    / 0             |
| 1     5                   | 0000:4F:00.0  | 0           0    / 0          3002 / 65536         |
+===========================+===============+====================================================+
";

pub const A3_BOARD: &str = "\
        NPU ID                         : 2
        NPU Name                       : 9392
        Chip ID                        : 0
        Chip Name                      : Ascend910
";

pub const DOCKER: &str = r#"{"ServerVersion":"27.2.0","Runtimes":{"ascend":{"path":"/a"},"runc":{"path":"runc"}},"DockerRootDir":"/var/lib/docker","HttpProxy":"http://me:planted-proxy@proxy:80","Architecture":"x86_64"}"#;
pub const DOCKER_PLAIN: &str = r#"{"ServerVersion":"27.2.0","Runtimes":{"runc":{"path":"runc"}}}"#;

pub const MANAGERS: [&str; 3] = ["davinci_manager", "devmm_svm", "hisi_hdc"];
pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
